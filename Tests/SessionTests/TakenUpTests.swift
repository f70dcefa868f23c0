// What a worker makes of the tunnel of one that died behind the kill switch.

import Commands
@testable import Session
import Testing

@Suite struct TakenUpTests {
    @Test func aWorkerAfterADeadOneTakesUpItsTunnelBehindTheBlock() {
        let left = Session(blockedFor: guarded, reason: cause)
        var (session, effects) = after(.resume(attempt: 1), from: left)
        #expect(session.phase == .reconnecting(.waiting, cause))
        #expect(
            effects == [.makeGuard, .scheduleRestart(milliseconds: 0)], "somebody may have removed it meanwhile")
        #expect(session.policy == .guarded)
        #expect(session.reduce(.guardReady) == [])
        #expect(session.reduce(.restartDue) == [.startEngine])
        _ = session.reduce(.engineFailed(cause, upMilliseconds: 0))
        #expect(session.policy == .guarded, "nothing opens while it is tried again")
        _ = session.reduce(.restartDue)
        effects =
            after(
                .engineStarted, .namespaceReady, .linkReady, .engineReady, .sandboxWired, .planApplied, from: session
            ).1
        #expect(effects == [.answerConnect(nil)])
    }

    @Test func domesticTrafficGoesPastTheEngineOfATunnelTakenUpIfItDidAndTheEngineAllowsIt() {
        let soon = SessionEffect.scheduleDomestic(milliseconds: Session.domesticDelay)
        let taken = after(
            .resume(attempt: 1), .restartDue, .engineStarted, .namespaceReady, .linkReady, .engineReady, .sandboxWired,
            from: Session(blockedFor: guarded, reason: cause, restoringDomestic: true)
        ).0
        let (up, effects) = after(.planApplied, from: taken)
        #expect(effects == [.answerConnect(nil), .askMode])
        #expect(up.intent?.domestic == false)
        let (restored, then) = after(.modeTold(allows: true), from: up)
        #expect(then == [soon] && restored.intent?.domestic == true)
        #expect(after(.domesticDue, from: restored).1 == [.applyDomestic])
        #expect(after(.modeTold(allows: true), from: restored).1 == [], "told once")
        // Another mode or profile.
        let (other, nothing) = after(.modeTold(allows: false), from: up)
        #expect(nothing == [] && other.intent?.domestic == false && other.intent?.domesticAllowed == false)
        // Somebody switched, or connected, while the engine was asked.
        #expect(after(.domestic(false, soon: false), .modeTold(allows: true), from: up).0.intent?.domestic == false)
        #expect(
            after(.connect(guarded), .engineUnchanged, .modeTold(allows: true), from: up).0.intent?.domestic == false)
        // Before the tunnel is up that is written down, for yet another worker.
        let early = after(
            .domestic(false, soon: false), from: Session(blockedFor: guarded, reason: cause, restoringDomestic: true))
        #expect(early.1 == [.forgetDomestic] && !early.0.restoresDomestic)
        // Its engine died before it told: the next one is asked.
        let again = after(
            .engineFailed(cause, upMilliseconds: 0), .restartDue, .engineStarted, .namespaceReady, .linkReady,
            .engineReady,
            .sandboxWired, .planApplied, from: up
        ).1
        #expect(again.contains(.askMode))
    }

    @Test func whatCannotBeTakenUpStaysBlockedWithTheCause() {
        var session = after(.resume(attempt: 1), from: Session(blockedFor: guarded, reason: cause)).0
        for _ in 0..<20 {
            _ = session.reduce(.restartDue)
            _ = session.reduce(.engineFailed(cause, upMilliseconds: 0))
        }
        #expect(session.phase == .blocked(cause))
        #expect(session.policy == .guarded)
    }

    @Test func workersThatKeepDyingWaitLongerAndThenStayBlocked() {
        let left = Session(blockedFor: guarded, reason: cause)
        let waits = (1...6).map { after(.resume(attempt: $0), from: left).1 }
        #expect(
            waits == [0, 250, 1_000, 3_000, 10_000, 10_000].map { [.makeGuard, .scheduleRestart(milliseconds: $0)] })
        let (session, effects) = after(.resume(attempt: 7), from: left)
        #expect(session.phase == .blocked(cause))
        #expect(effects == [.makeGuard])
    }

    @Test func anUnconfirmedConnectionOfADeadWorkerIsUndoneInTimeHoweverItGoes() {
        var wish = guarded
        wish.confirmSeconds = 60
        for attempt in [1, 7] {
            let (session, effects) = after(.resume(attempt: attempt), from: Session(blockedFor: wish, reason: cause))
            #expect(effects.prefix(3) == [.makeGuard, .cancelConfirm, .scheduleConfirm(seconds: 60)])
            #expect(after(.confirmDue, from: session).1.contains(.undo(keepingGuard: false)))
        }
    }
}
