// The state machine: what follows from an event. No clock, no file, no call; the tables in the tests are its contract.

import Commands

extension Session {
    /// Takes an event in and says what is to be done. Events that make no sense in a phase change nothing.
    package mutating func reduce(_ event: SessionEvent) -> [SessionEffect] {
        switch event {
        case .connect(let intent): return connect(intent)
        case .confirm: return confirm()
        case .domestic(let isOn, let soon): return domestic(isOn, soon)
        case .domesticDue: return phase == .connected && intent?.domestic == true ? [.applyDomestic] : []
        case .modeTold(let allows): return modeTold(allows)
        case .disconnect: return disconnect()
        case .stop: return stop()
        case .resume(let attempt): return resume(attempt)
        case .engineUnchanged: return engineUnchanged()
        case .engineStarted: return engineStarted()
        case .namespaceReady: return advance(.namespace)
        case .engineReady: return advance(.engine)
        case .sandboxWired: return advance(.wiring)
        case .guardReady:
            if phase.state == .connecting, policy == .open { policy = .guarded }
            return []
        case .linkReady: return advance(.link)
        case .planApplied: return planApplied()
        case .engineStopped: return engineGone()
        case .engineFailed(let failure, let up):
            engineRuns = false
            return failed(failure, upMilliseconds: up)
        case .engineHostGone(let failure): return engineHostGone(failure)
        case .stepFailed(let failure): return failed(failure, upMilliseconds: 0)
        case .undone:
            undoing = false
            return finishTakingDown()
        case .restartDue: return restart()
        case .confirmDue: return awaitsConfirmation ? takeDown(Self.notConfirmed) : []
        }
    }

    private static let notConfirmed = Failure(
        .notConfirmed, "The connection was undone because nobody confirmed it in time.",
        remedy: "Connect again and confirm, or connect without --confirm.")

    // MARK: Asked for

    private mutating func connect(_ new: Intent) -> [SessionEffect] {
        // Without an engine host nothing can be started any more; the next worker can.
        guard !stopping else { return [.answerConnect(phase.reason ?? Self.ending)] }
        // What goes past an engine that runs goes on so, if that is still allowed; a new one may be in any mode.
        var new = new
        new.wantDomestic(intent?.domestic == true)
        intent = new
        restoresDomestic = false
        // Whoever connects again has not confirmed by that: the time goes on, for a later worker, too.
        var noted = new
        noted.confirmSeconds = new.confirmSeconds ?? confirming
        // While there is no engine to be asked, or the answer is still to come, the host is closed all the same.
        let closing: [SessionEffect] = new.killSwitch ? [.makeGuard] : []
        switch phase {
        case .disconnected, .blocked:
            failures = 0
            restarts = 0
            progress = []
            engineRuns = true
            phase = .connecting(.engine)
            return [.remember(noted), .startEngine]
        case .connecting: return [.remember(noted)] + closing
        case .disconnecting: return [.remember(noted)]
        case .connected:
            engineRuns = true
            // The kill switch may have changed (applyPlan), the profile too (startEngine finds out).
            return [.remember(noted), .applyPlan, .startEngine]
        case .reconnecting(.waiting, _): return [.remember(noted)] + closing + [.cancelRestart] + restart()
        case .reconnecting: return [.remember(noted)] + closing
        }
    }

    private static let ending = Failure(
        .notConnected, "The worker is ending.", remedy: "Connect again once it has been started again.")

    private mutating func confirm() -> [SessionEffect] {
        guard awaitsConfirmation else { return [] }
        confirming = nil
        return [.cancelConfirm] + (intent.map { [.remember($0)] } ?? [])
    }

    /// Into the tunnel at once; past it only when the tunnel is up, else as soon as it is.
    private mutating func domestic(_ isOn: Bool, _ soon: Bool) -> [SessionEffect] {
        guard intent != nil else { return [] }
        if !isOn { restoresDomestic = false }
        guard phase.state != .blocked else { return isOn ? [] : [.forgetDomestic] }
        intent?.wantDomestic(isOn)
        guard phase == .connected || (!isOn && policy == .full) else { return isOn ? [] : [.forgetDomestic] }
        return [isOn && soon ? .scheduleDomestic(milliseconds: Self.domesticDelay) : .applyDomestic]
    }

    /// Domestic traffic goes past the engine again as it did when the worker before this one died. Whoever has switched the
    /// mode or stored a profile since has said so to this worker, or had done it before the engine was asked.
    private mutating func modeTold(_ allows: Bool) -> [SessionEffect] {
        guard phase == .connected, restoresDomestic else { return [] }
        restoresDomestic = false
        guard allows else { return [] }
        intent?.domesticAllowed = true
        intent?.wantDomestic(true)
        return [.scheduleDomestic(milliseconds: Self.domesticDelay)]
    }

    /// Takes the tunnel down. A worker that is ending and was to leave the kill switch closed opens it, too.
    private mutating func disconnect() -> [SessionEffect] {
        guard case .disconnecting = phase, policy == .guarded else { return takeDown(nil) }
        intent = nil
        policy = .open
        undoing = true
        return [.forget, .undo(keepingGuard: false)]
    }

    /// Takes the tunnel down, and repairs when there is none.
    /// - Parameter keepingGuard: leaves a kill switch closed: the worker ends, and only `disconnect` may open the host.
    private mutating func takeDown(_ reason: Failure?, keepingGuard: Bool = false) -> [SessionEffect] {
        if case .disconnecting = phase { return [] }
        let wasConnecting = phase.state == .connecting || phase.state == .reconnecting
        phase = .disconnecting(reason)
        confirming = nil
        undoing = true
        var effects: [SessionEffect] = [.cancelRestart, .cancelConfirm]
        if wasConnecting, reason == nil { effects.append(.answerConnect(Self.givenUp)) }
        if !keepingGuard {
            intent = nil
            effects.append(.forget)
        }
        policy = keepingGuard ? .guarded : .open
        effects.append(.undo(keepingGuard: keepingGuard))
        if engineRuns { effects.append(.stopEngine) }
        return effects
    }

    private static let givenUp = Failure(
        .notConnected, "The connection was given up because it was taken down meanwhile.", remedy: nil)

    private mutating func stop() -> [SessionEffect] {
        stopping = true
        if case .disconnected = phase { return [.exit] }
        return takeDown(nil, keepingGuard: intent?.killSwitch == true)
    }

    /// Takes up the tunnel of a worker that died: the host stays blocked until it is up, or for good when workers keep dying.
    /// A connection that nobody had confirmed is undone in time, whether it comes up or not.
    private mutating func resume(_ attempt: Int) -> [SessionEffect] {
        guard case .blocked(let reason) = phase, let intent else { return [] }
        // Somebody may have removed it while there was no worker.
        var effects: [SessionEffect] = (intent.killSwitch ? [.makeGuard] : []) + startConfirming(intent)
        guard attempt <= Self.failureLimit else { return effects }
        phase = .reconnecting(.waiting, reason)
        effects.append(.scheduleRestart(milliseconds: Self.backOff(afterFailures: attempt)))
        return effects
    }

    // MARK: From the engine host

    private mutating func engineUnchanged() -> [SessionEffect] {
        switch phase {
        case .connected: settle()
        case .reconnecting(.waiting, _), .disconnected, .blocked, .disconnecting: []
        // It was believed gone, and its sandbox is not in our hands: that of a new one will be.
        case .connecting, .reconnecting: [.stopEngine, .startEngine]
        }
    }

    private mutating func engineStarted() -> [SessionEffect] {
        progress = .process
        engineRuns = true
        switch phase {
        case .connecting: phase = .connecting(.engine)
        case .connected: phase = .reconnecting(.engine, Self.profileChanged)
        case .reconnecting(_, let reason): phase = .reconnecting(.engine, reason)
        case .disconnected, .blocked, .disconnecting: return [.stopEngine]
        }
        return []
    }

    private static let profileChanged = Failure(
        .engineExited, "The engine is started again with a new profile.", remedy: nil)

    /// Goes on with whatever the finished steps allow. While waiting they are those of an engine that is on its way out.
    private mutating func advance(_ done: Progress) -> [SessionEffect] {
        guard let stage = phase.stage, stage != .waiting, !progress.contains(done) else { return [] }
        progress.formUnion(done)
        switch done {
        case .namespace:
            policy = .full
            show(.link)
            // The wiring begins beside the making of the link, and waits for it where it has to.
            return [.wireSandbox, .makeLink]
        case .link:
            show(.sandbox)
            return readyToApply()
        default: return readyToApply()
        }
    }

    private mutating func readyToApply() -> [SessionEffect] {
        guard progress.isSuperset(of: [.link, .wiring, .engine]) else { return [] }
        show(.verify)
        return [.applyPlan]
    }

    private mutating func show(_ stage: ConnectStage) {
        switch phase {
        case .connecting: phase = .connecting(stage)
        case .reconnecting(_, let reason): phase = .reconnecting(stage, reason)
        default: break
        }
    }

    private mutating func planApplied() -> [SessionEffect] {
        guard phase.stage == .verify else { return [] }
        phase = .connected
        return settle()
    }

    /// The tunnel is up: answers, and starts the time for a confirmation.
    private mutating func settle() -> [SessionEffect] {
        // Thousands of routes take a moment of the worker's, which the proof under way need not share.
        (intent.map { startConfirming($0) } ?? []) + [.answerConnect(nil)]
            + (intent?.domestic == true ? [.scheduleDomestic(milliseconds: Self.domesticDelay)] : [])
            + (restoresDomestic ? [.askMode] : [])
    }

    /// Starts the time for a confirmation, once.
    private mutating func startConfirming(_ wanted: Intent) -> [SessionEffect] {
        guard let seconds = wanted.confirmSeconds else { return [] }
        intent?.confirmSeconds = nil
        confirming = seconds
        return [.cancelConfirm, .scheduleConfirm(seconds: seconds)]
    }

    private mutating func engineGone() -> [SessionEffect] {
        engineRuns = false
        return phase == .connected ? failed(Self.endedUnasked, upMilliseconds: 0) : finishTakingDown()
    }

    private static let endedUnasked = Failure(.engineExited, "The engine was ended under the tunnel.", remedy: nil)

    private mutating func finishTakingDown() -> [SessionEffect] {
        guard case .disconnecting(let reason) = phase, !undoing, !engineRuns else { return [] }
        phase = .disconnected(reason)
        progress = []
        failures = 0
        restarts = 0
        wasBlocked = false
        return [.answerConnect(reason ?? Self.givenUp), .answerDisconnect] + (stopping ? [.exit] : [])
    }

    private mutating func engineHostGone(_ failure: Failure) -> [SessionEffect] {
        engineRuns = false
        stopping = true
        switch phase {
        case .disconnected: return [.exit]
        case .disconnecting: return finishTakingDown()
        case .connecting where policy == .open: return takeDown(failure)
        case .connecting, .connected, .reconnecting, .blocked:
            // No other engine host can be had without root: refuse until the user decides, then end.
            phase = .blocked(failure)
            return [.cancelRestart] + endDomestic() + [.answerConnect(failure)]
        }
    }

    // MARK: Failures

    private mutating func failed(_ failure: Failure, upMilliseconds: Int) -> [SessionEffect] {
        switch phase {
        case .disconnected, .blocked: return []
        case .disconnecting: return finishTakingDown()
        case .connecting:
            guard staysClosed else { return takeDown(failure) }
            // It may hold up whoever is to confirm it.
            return block(failure) + (intent.map { startConfirming($0) } ?? [])
        case .connected, .reconnecting:
            failures = upMilliseconds >= Self.healthyAfter ? 1 : failures + 1
            guard failures < Self.failureLimit else { return block(failure) }
            phase = .reconnecting(.waiting, failure)
            let restart = SessionEffect.scheduleRestart(milliseconds: Self.backOff(afterFailures: failures))
            return (engineRuns ? [.stopEngine] : []) + [restart]
        }
    }

    private mutating func block(_ failure: Failure) -> [SessionEffect] {
        phase = .blocked(failure)
        wasBlocked = true
        return [.cancelRestart] + (engineRuns ? [.stopEngine] : []) + endDomestic() + [.answerConnect(failure)]
    }

    /// Nothing but the local network leaves while blocked, domestic traffic neither.
    private mutating func endDomestic() -> [SessionEffect] {
        guard intent?.domestic == true else { return [] }
        intent?.wantDomestic(false)
        return [.applyDomestic]
    }

    private mutating func restart() -> [SessionEffect] {
        guard case .reconnecting(.waiting, let reason) = phase else { return [] }
        restarts += 1
        engineRuns = true
        // The engine takes the profile that is stored by now. Its owner has had the fast path ended when it does not allow it;
        // what the one before allowed holds no longer.
        if intent?.domestic == false { intent?.domesticAllowed = false }
        phase = .reconnecting(.engine, reason)
        return [.startEngine]
    }
}
