// What the kill switch keeps closed, and what opens it.

import Commands
@testable import Session
import Testing

@Suite struct KillSwitchTests {
    @Test func aFailedFirstConnectionWithTheKillSwitchStaysClosed() {
        var session = after(.connect(guarded), .guardReady, .engineStarted).0
        #expect(session.policy == .guarded)
        #expect(
            after(.namespaceReady, .stepFailed(cause), from: session).1
                == [.cancelRestart, .stopEngine, .answerConnect(cause)])
        #expect(
            session.reduce(.engineFailed(cause, upMilliseconds: 0)) == [.cancelRestart, .answerConnect(cause)])
        #expect(session.phase == .blocked(cause))
        #expect(session.policy == .guarded)
        #expect(session.intent == guarded)
        // Tried again, and hindered at the very start now.
        #expect(session.reduce(.connect(guarded)) == [.remember(guarded), .startEngine])
        _ = session.reduce(.engineFailed(cause, upMilliseconds: 0))
        #expect(session.phase == .blocked(cause))
        #expect(after(.disconnect, from: session).1.contains(.undo(keepingGuard: false)))
    }

    @Test func aFailedFirstConnectionNobodyConfirmedIsUndoneInTime() {
        var wish = guarded
        wish.confirmSeconds = 60
        let (session, effects) = after(
            .connect(wish), .guardReady, .engineStarted, .engineFailed(cause, upMilliseconds: 0))
        #expect(session.phase == .blocked(cause))
        #expect(effects.contains(.scheduleConfirm(seconds: 60)))
        #expect(after(.confirmDue, from: session).1.contains(.undo(keepingGuard: false)))
    }

    @Test func aKillSwitchThatIsTurnedOnOnTheWayClosesTheHostAtOnce() {
        let (connecting, effects) = after(.connect(intent), .engineStarted, .connect(guarded))
        #expect(effects == [.remember(guarded), .makeGuard])
        let failed = after(.guardReady, .engineFailed(cause, upMilliseconds: 0), from: connecting).0
        #expect(failed.phase == .blocked(cause))
        let waiting = after(.engineFailed(cause, upMilliseconds: 0), from: connected()).0
        #expect(
            after(.connect(guarded), from: waiting).1
                == [.remember(guarded), .makeGuard, .cancelRestart, .startEngine])
        #expect(after(.restartDue, .connect(guarded), from: waiting).1 == [.remember(guarded), .makeGuard])
    }

    @Test func disconnectOpensAKillSwitchThatAWorkerWasToLeaveClosed() {
        for ended in [[], [.undone], [.engineStopped]] as [[SessionEvent]] {
            var session = after(.stop, from: connected(guarded)).0
            for event in ended { _ = session.reduce(event) }
            #expect(session.reduce(.disconnect) == [.forget, .undo(keepingGuard: false)])
            #expect(session.policy == .open)
            #expect(session.reduce(.disconnect) == [], "one after the other gets the same answer")
            let answers = session.reduce(.undone) + session.reduce(.engineStopped)
            #expect(answers.filter { $0 == .answerDisconnect }.count == 1)
            #expect(answers.last == .exit)
        }
    }
}
