// The state machine, step by step and as a table of what may pass.

import Commands
@testable import Session
import Testing

let intent = Intent(owner: 1000, killSwitch: false)
let guarded = Intent(owner: 1000, killSwitch: true)
let cause = Failure(.engineExited, "The engine ended.")

/// A session after these events; the effects of the last one.
func after(_ events: SessionEvent..., from start: Session = Session()) -> (Session, [SessionEffect]) {
    var session = start
    var effects: [SessionEffect] = []
    for event in events { effects = session.reduce(event) }
    return (session, effects)
}

func connected(_ intent: Intent = intent) -> Session {
    after(
        .connect(intent), .engineStarted, .namespaceReady, .linkReady, .engineReady, .sandboxWired, .planApplied
    ).0
}

@Suite struct ReduceTests {
    @Test func aConnectionGoesThroughItsStages() {
        var session = Session()
        #expect(session.reduce(.connect(intent)) == [.remember(intent), .startEngine])
        #expect(session.reduce(.engineStarted) == [])
        #expect(session.phase == .connecting(.engine))
        #expect(session.policy == .open, "the host is untouched until there is a sandbox")
        #expect(session.reduce(.namespaceReady) == [.wireSandbox, .makeLink])
        #expect(session.policy == .full)
        #expect(session.reduce(.linkReady) == [])
        #expect(session.phase == .connecting(.sandbox))
        #expect(session.reduce(.engineReady) == [])
        #expect(session.reduce(.sandboxWired) == [.applyPlan])
        #expect(session.phase == .connecting(.verify))
        #expect(session.reduce(.planApplied) == [.answerConnect(nil)])
        #expect(session.phase == .connected)
    }

    @Test func domesticTrafficGoesPastTheEngineOnlyWhereThatIsAllowed() {
        let wanted = Intent(owner: 1000, killSwitch: false, domesticAllowed: true)
        var session = Session()
        #expect(session.reduce(.domestic(true, soon: false)) == [], "there is no tunnel")
        _ = session.reduce(.connect(wanted))
        #expect(session.reduce(.domestic(true, soon: false)) == [])
        for event in [SessionEvent.engineStarted, .namespaceReady, .linkReady, .engineReady, .sandboxWired] {
            #expect(!session.reduce(event).contains(.applyDomestic), "it waits for the tunnel")
        }
        #expect(session.reduce(.domesticDue) == [])
        let soon = SessionEffect.scheduleDomestic(milliseconds: Session.domesticDelay)
        #expect(session.reduce(.planApplied) == [.answerConnect(nil), soon])
        #expect(session.reduce(.domesticDue) == [.applyDomestic])
        #expect(session.reduce(.domestic(false, soon: false)) == [.applyDomestic])
        #expect(session.reduce(.domesticDue) == [])
        #expect(session.reduce(.domestic(true, soon: false)) == [.applyDomestic])
        #expect(session.intent?.domestic == true)
        #expect(session.reduce(.domestic(true, soon: true)) == [soon])
        #expect(session.reduce(.domestic(false, soon: true)) == [.applyDomestic])
        #expect(session.reduce(.domestic(true, soon: false)) == [.applyDomestic])
        // While the engine is away: into the tunnel at once, past it when it is back.
        _ = session.reduce(.engineFailed(cause, upMilliseconds: 60_000))
        #expect(session.reduce(.domestic(false, soon: false)) == [.applyDomestic])
        #expect(session.reduce(.domestic(true, soon: false)) == [])
        _ = session.reduce(.restartDue)
        for event in [SessionEvent.engineStarted, .namespaceReady, .linkReady, .engineReady, .sandboxWired] {
            _ = session.reduce(event)
        }
        #expect(session.reduce(.planApplied) == [.answerConnect(nil), soon])
        // Blocked means domestic traffic, too.
        var blocked = session
        let given = blocked.reduce(.engineHostGone(cause))
        #expect(given.contains(.applyDomestic) && blocked.intent?.domestic == false)
        #expect(blocked.reduce(.domestic(true, soon: false)) == [] && blocked.intent?.domestic == false)
        // A profile that was stored meanwhile and allows nothing is the one a new engine takes.
        _ = session.reduce(.domestic(false, soon: false))
        _ = session.reduce(.engineFailed(cause, upMilliseconds: 60_000))
        _ = session.reduce(.restartDue)
        _ = session.reduce(.domestic(true, soon: false))
        #expect(session.intent?.domestic == false)

        var other = connected(guarded)
        _ = other.reduce(.domestic(true, soon: false))
        #expect(other.intent?.domestic == false, "the profile does not allow it")
    }

    /// Whoever connects has looked at the tunnel before, and another command may have switched the engine since.
    @Test func connectingAgainLeavesDomesticTrafficWhereItIs() {
        let allowing = Intent(owner: 1000, killSwitch: false, domesticAllowed: true)
        var session = connected(allowing)
        func connectAgain(_ intent: Intent) -> Bool? {
            _ = session.reduce(.connect(intent))
            return session.intent?.domestic
        }
        #expect(connectAgain(allowing) == false)
        _ = session.reduce(.domestic(true, soon: false))
        #expect(connectAgain(allowing) == true)
        #expect(connectAgain(intent) == false, "the profile does not allow it any more")
        #expect(connectAgain(allowing) == false)
        // A new engine may be in any mode.
        _ = session.reduce(.domestic(true, soon: false))
        for _ in 1...Session.failureLimit { _ = session.reduce(.engineFailed(cause, upMilliseconds: 0)) }
        #expect(session.phase == .blocked(cause))
        _ = session.reduce(.domestic(true, soon: true))
        #expect(connectAgain(allowing) == false)
        _ = session.reduce(.domestic(true, soon: false))
        _ = session.reduce(.disconnect)
        #expect(session.intent == nil)
    }

    @Test func stepsMayComeInAnyOrderAndTwice() {
        let (_, early) = after(
            .connect(intent), .engineStarted, .engineReady, .namespaceReady, .linkReady, .sandboxWired)
        #expect(early == [.applyPlan])
        let (_, late) = after(
            .connect(intent), .engineStarted, .namespaceReady, .linkReady, .sandboxWired, .engineReady)
        #expect(late == [.applyPlan])
        let (_, linkLast) = after(
            .connect(intent), .engineStarted, .namespaceReady, .engineReady, .sandboxWired, .linkReady)
        #expect(linkLast == [.applyPlan])
        let (_, twice) = after(.connect(intent), .engineStarted, .namespaceReady, .namespaceReady)
        #expect(twice == [])
    }

    @Test(
        arguments: [
            [.connect(intent)], [.connect(intent), .engineStarted],
            [.connect(intent), .engineStarted, .namespaceReady],
            // What hinders the very start of an engine: no profile, no engine.
            [.connect(guarded)], [.connect(guarded), .guardReady],
            // The last word counts.
            [.connect(guarded), .guardReady, .engineStarted, .connect(intent)],
        ] as [[SessionEvent]])
    func aFailedFirstConnectionLeavesTheHostAsItWas(_ events: [SessionEvent]) {
        var session = Session()
        for event in events { _ = session.reduce(event) }
        let effects = session.reduce(.engineFailed(cause, upMilliseconds: 0))
        #expect(effects == [.cancelRestart, .cancelConfirm, .forget, .undo(keepingGuard: false)])
        let (end, answers) = after(.undone, from: session)
        #expect(end.phase == .disconnected(cause))
        #expect(end.policy == .open)
        #expect(answers == [.answerConnect(cause), .answerDisconnect])
    }

    @Test func aStepThatFailsEndsTheEngineToo() {
        let (session, effects) = after(
            .connect(intent), .engineStarted, .namespaceReady, .stepFailed(cause))
        #expect(effects.suffix(2) == [.undo(keepingGuard: false), .stopEngine])
        #expect(after(.undone, from: session).0.phase == .disconnecting(cause), "the engine still runs")
        #expect(after(.engineStopped, .undone, from: session).0.phase == .disconnected(cause))
    }

    @Test func anEngineThatDiesIsStartedAgainAndNothingOpens() {
        var session = connected()
        #expect(session.reduce(.engineFailed(cause, upMilliseconds: 60_000)) == [.scheduleRestart(milliseconds: 0)])
        #expect(session.phase == .reconnecting(.waiting, cause))
        #expect(session.policy == .full)
        #expect(session.reduce(.restartDue) == [.startEngine])
        #expect(session.reduce(.engineStarted) == [])
        #expect(session.reduce(.namespaceReady) == [.wireSandbox, .makeLink])
        #expect(session.policy == .full)
        _ = session.reduce(.engineReady)
        #expect(session.reduce(.linkReady) == [])
        #expect(session.reduce(.sandboxWired) == [.applyPlan])
        _ = session.reduce(.planApplied)
        #expect(session.phase == .connected)
        #expect(session.restarts == 1)
    }

    /// What an engine tells that is on its way out must not count for the next one.
    @Test func lateNewsOfAFailedEngineConnectNothing() {
        let waiting = after(
            .connect(intent), .engineStarted, .namespaceReady, .linkReady, .engineReady, .sandboxWired, .planApplied,
            .stepFailed(cause)
        ).0
        #expect(waiting.phase == .reconnecting(.waiting, cause))
        // Its profile was new: it was started under the tunnel, and has not got ready.
        let early = after(
            .engineStarted, .namespaceReady, .linkReady, .stepFailed(cause), from: connected()
        ).0
        for event in [SessionEvent.namespaceReady, .linkReady, .engineReady, .sandboxWired, .planApplied] {
            #expect(after(event, from: waiting) == (waiting, []))
        }
        #expect(after(.engineReady, .sandboxWired, from: early) == (early, []))
    }

    @Test func aTunnelWhoseEngineIsGoneIsNotConnected() {
        let (session, effects) = after(.engineStopped, from: connected())
        #expect(session.phase.state == .reconnecting)
        #expect(effects == [.scheduleRestart(milliseconds: 0)])
    }

    @Test func afterManyFailuresItIsBlockedWithTheCause() {
        var session = connected()
        var waits: [Int] = []
        for _ in 0..<20 {
            for case .scheduleRestart(let wait) in session.reduce(.engineFailed(cause, upMilliseconds: 0)) {
                waits.append(wait)
            }
            _ = session.reduce(.restartDue)
        }
        #expect(waits == [0, 250, 1_000, 3_000, 10_000])
        #expect(session.phase == .blocked(cause))
        #expect(session.policy == .full)
    }

    @Test func aHealthyTimeForgetsFailures() {
        var session = connected()
        for _ in 0..<20 {
            #expect(
                session.reduce(.engineFailed(cause, upMilliseconds: 30_000)) == [.scheduleRestart(milliseconds: 0)])
            _ = session.reduce(.restartDue)
            session =
                after(
                    .engineStarted, .namespaceReady, .linkReady, .engineReady, .sandboxWired, .planApplied,
                    from: session
                ).0
        }
        #expect(session.phase == .connected)
    }

    @Test func failingFromABlockStaysBlocked() {
        let left = Session(blockedFor: guarded, reason: cause)
        #expect(left.policy == .guarded)
        let (session, effects) = after(.connect(guarded), .engineFailed(cause, upMilliseconds: 0), from: left)
        #expect(session.phase == .blocked(cause))
        #expect(session.policy == .guarded)
        #expect(effects == [.cancelRestart, .answerConnect(cause)])
    }

    @Test func disconnectWaitsForHostAndEngine() {
        var session = connected()
        #expect(
            session.reduce(.disconnect) == [
                .cancelRestart, .cancelConfirm, .forget, .undo(keepingGuard: false), .stopEngine,
            ])
        #expect(session.reduce(.undone) == [])
        #expect(session.phase == .disconnecting(nil))
        #expect(session.reduce(.engineStopped).contains(.answerDisconnect))
        #expect(session == Session())
    }

    @Test func disconnectWithoutATunnelRepairs() {
        let (session, effects) = after(.disconnect)
        #expect(effects.contains(.undo(keepingGuard: false)))
        #expect(!effects.contains(.stopEngine))
        #expect(after(.undone, from: session).1.contains(.answerDisconnect))
    }

    @Test func disconnectWhileConnectingAnswersBoth() {
        let (_, effects) = after(.connect(intent), .engineStarted, .disconnect)
        #expect(
            effects.contains {
                if case .answerConnect(.some) = $0 { true } else { false }
            })
        #expect(effects.contains(.stopEngine))
    }

    @Test func anUnconfirmedConnectionIsUndone() {
        var wish = intent
        wish.confirmSeconds = 60
        let session = connected(wish)
        #expect(session.awaitsConfirmation)
        let (undone, effects) = after(.confirmDue, from: session)
        #expect(undone.phase.reason?.code == .notConfirmed)
        #expect(effects.contains(.undo(keepingGuard: false)))
        let (kept, confirmed) = after(.confirm, .confirmDue, from: session)
        #expect(kept.phase == .connected)
        #expect(confirmed == [])
    }

    /// Whoever asks for it once more may be about to lose the way to this machine all the same.
    @Test func connectingAgainConfirmsNothing() {
        var wish = guarded
        wish.confirmSeconds = 60
        let (session, effects) = after(.connect(guarded), from: connected(wish))
        #expect(effects.first == .remember(wish), "a later worker undoes it, too")
        #expect(session.awaitsConfirmation)
        var longer = guarded
        longer.confirmSeconds = 90
        let (asked, others) = after(.connect(longer), from: session)
        #expect(others.first == .remember(longer))
        #expect(after(.engineUnchanged, from: asked).1.contains(.scheduleConfirm(seconds: 90)))
        #expect(after(.confirm, from: session).1 == [.cancelConfirm, .remember(guarded)])
        #expect(after(.confirm, .connect(guarded), from: session).1.first == .remember(guarded))
    }

    @Test func aConfirmedConnectionIsRememberedAsThat() {
        var wish = guarded
        wish.confirmSeconds = 60
        #expect(after(.confirm, from: connected(wish)).1 == [.cancelConfirm, .remember(guarded)])
    }

    @Test func connectingAgainKeepsTheTunnelUnlessTheProfileChanged() {
        let session = connected()
        let (asked, effects) = after(.connect(guarded), from: session)
        #expect(effects == [.remember(guarded), .applyPlan, .startEngine])
        #expect(after(.engineUnchanged, from: asked).1 == [.answerConnect(nil)])
        #expect(after(.engineStarted, from: asked).0.phase.state == .reconnecting)
        #expect(after(.engineStarted, from: asked).0.policy == .full)
    }

    /// It was believed gone: nothing would ever be heard of its sandbox again.
    @Test func anEngineThatRunsThoughANewOneIsConnectedToIsStartedAnew() {
        let (session, effects) = after(.connect(intent), .engineUnchanged)
        #expect(effects == [.stopEngine, .startEngine])
        #expect(session.phase == .connecting(.engine))
    }

    @Test func anEngineThatWasStartedRunsAndIsEnded() {
        let (session, _) = after(.connect(intent), .engineStopped, .engineStarted)
        #expect(session.engineRuns)
        #expect(after(.disconnect, from: session).1.contains(.stopEngine))
    }

    @Test func stoppingKeepsTheGuardOnlyWithTheKillSwitch() {
        let (off, offEffects) = after(.stop, from: connected())
        #expect(offEffects.contains(.undo(keepingGuard: false)))
        #expect(offEffects.contains(.forget))
        #expect(after(.engineStopped, .undone, from: off).1.last == .exit)
        let (on, onEffects) = after(.stop, from: connected(guarded))
        #expect(onEffects.contains(.undo(keepingGuard: true)))
        #expect(!onEffects.contains(.forget))
        #expect(on.policy == .guarded)
        #expect(after(.stop).1 == [.exit])
    }

    @Test func disconnectOpensTheKillSwitchThoughTheEngineHostIsGone() {
        let (session, effects) = after(.engineHostGone(cause), .disconnect, from: connected(guarded))
        #expect(effects.contains(.undo(keepingGuard: false)))
        #expect(effects.contains(.forget))
        #expect(session.policy == .open)
        #expect(after(.undone, from: session).1.suffix(2) == [.answerDisconnect, .exit])
    }

    @Test func connectingWithoutAnEngineHostFailsAtOnce() {
        let (blocked, _) = after(.engineHostGone(cause), from: connected(guarded))
        let (session, effects) = after(.connect(guarded), .engineHostGone(cause), from: blocked)
        #expect(session.phase == .blocked(cause))
        #expect(effects.contains(.answerConnect(cause)))
    }

    @Test func losingTheEngineHostBlocks() {
        let (session, effects) = after(.engineHostGone(cause), from: connected())
        #expect(session.phase == .blocked(cause))
        #expect(effects.contains(.answerConnect(cause)))
        #expect(after(.disconnect, .undone, from: session).1.last == .exit)
        #expect(after(.engineHostGone(cause)).1 == [.exit])
    }

    @Test func withoutAnEngineHostDisconnectStillOpensAndConnectIsRefused() {
        let (blocked, _) = after(.engineHostGone(cause), from: connected(guarded))
        let (opening, effects) = after(.disconnect, from: blocked)
        #expect(effects.contains(.undo(keepingGuard: false)))
        #expect(opening.policy == .open)
        let (refused, answer) = after(.connect(intent), from: blocked)
        #expect(answer == [.answerConnect(cause)])
        #expect(refused == blocked)
    }

    /// Whatever happens in whatever order, the host is open only when no tunnel is wanted or none with the kill switch ever had
    /// an engine, and the effects that open it are asked for only then.
    @Test func nothingOpensByItself() {
        let events: [SessionEvent] = [
            .connect(guarded), .confirm, .engineUnchanged, .engineStarted, .namespaceReady, .engineReady,
            .sandboxWired, .engineStopped, .engineFailed(cause, upMilliseconds: 0), .linkReady, .planApplied,
            .stepFailed(cause), .undone, .restartDue, .confirmDue, .guardReady,
        ]
        var seen: Set<Session> = [connected(guarded), after(.connect(guarded), .guardReady, .engineStarted).0]
        var fresh = Array(seen)
        while let session = fresh.popLast() {
            for event in events {
                var next = session
                let effects = next.reduce(event)
                #expect(next.policy != .open, "\(event) opened \(session.phase)")
                #expect(next.policy == .full || session.policy == .guarded, "\(event) loosened \(session.phase)")
                #expect(!effects.contains { if case .undo = $0 { true } else { false } })
                // The one counter that grows for ever.
                next.restarts = 0
                if seen.insert(next).inserted, seen.count < 4_000 { fresh.append(next) }
            }
        }
        #expect(seen.count > 10)
    }
}
