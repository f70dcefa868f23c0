// Following an engine from its start to an accepting API: pid file, namespaces, output, deadline.

internal import Commands
internal import Linux

extension EngineHost {
    /// The longest an engine may take from start to an accepting API, in milliseconds.
    private static let deadline = 20_000
    /// The wait between tries to connect when the engine says nothing, in milliseconds.
    private static let retry = 25
    /// The rest between two looks at what a ready engine writes, in milliseconds. It writes three lines for every connection;
    /// woken by each, this process took the processor from the engine a thousand times a second.
    private static let rest = 20

    func watch(_ engine: RunningEngine) throws(SystemCallError) {
        engine.processWatch = try loop.watch(engine.process.descriptor) { [unowned self] _ in ended(engine) }
        engine.outputWatch = try loop.watch(engine.output.number) { [unowned self] _ in
            drainOutput(engine)
            if engine.hasFallenSilent { return finish(engine) }
            tryConnecting(engine)
            if engine.isReady { restFromOutput(engine) }
        }
        engine.pidWatch = try loop.watch(engine.pidFileWatch.descriptor.number) { [unowned self] _ in
            engine.pidFileWatch.drain()
            lookForHolder(engine)
        }
        engine.deadline = loop.after(milliseconds: Self.deadline) { [unowned self] in giveUp(engine, Self.timeout) }
    }

    private static let timeout = Failure(
        .engineTimeout, "The engine did not get ready within 20 seconds.",
        remedy: "Look at its log: trocket-controller logs --source engine.")

    func drainOutput(_ engine: RunningEngine) {
        // A bounded turn, so that a talkative engine does not keep the loop from everything else.
        for _ in 0..<16 {
            switch try? readSome(engine.output.number) {
            case .bytes(let bytes)?: log.append(bytes)
            case .wouldBlock?: return
            case .end?, nil:
                // Nobody has the other end any more: the engine and all its helpers are gone.
                engine.hasFallenSilent = true
                engine.endOutputWatch(in: loop)
                return
            }
        }
    }

    /// Lets a ready engine's output gather in the pipe for a moment; its end is told nevertheless (EPOLLHUP).
    private func restFromOutput(_ engine: RunningEngine) {
        guard engine.outputRest == nil, let watch = engine.outputWatch, (try? loop.rewatch(watch, [])) != nil else {
            return
        }
        engine.outputRest = loop.after(milliseconds: Self.rest) { [unowned self, weak engine] in
            engine?.outputRest = nil
            if let watch = engine?.outputWatch { try? loop.rewatch(watch, .readable) }
        }
    }

    private func lookForHolder(_ engine: RunningEngine) {
        guard engine.namespaces == nil, engine.isWanted,
            let folder = try? Directory(configuration.engineDirectory),
            let pid = Holder.pid(in: folder, named: EngineFolder.pidFile, owner: user)
        else { return }
        do {
            let found = try Holder.namespaces(of: pid, engine: engine.process.pid)
            engine.namespaces = HeldNamespaces(found)
            engine.endPidWatch(in: loop)
            endDeadline(engine)
            tell(.namespace(generation: engine.start.generation), descriptor: engine.namespaces?.network)
        } catch let failure as Failure {
            giveUp(engine, failure)
        } catch {
            giveUp(
                engine,
                Failure(
                    .untrustedSandbox, "The engine's sandbox cannot be opened: \(error).",
                    remedy: "Use an unchanged sing-box 1.14 or newer."))
        }
    }

    /// Tries whether the API accepts connections, one try at a time: whenever the engine wrote something, else now and then.
    func tryConnecting(_ engine: RunningEngine) {
        guard !engine.isReady, engine.isWanted, engine.exitCode == nil, engine.attempt == nil else { return }
        guard let attempt = try? Loopback.connect(engine.port) else { return retryLater(engine) }
        let held = OwnedDescriptor(attempt)
        let watch = try? loop.watch(held.number, .writable) { [unowned self] _ in attempted(engine) }
        guard let watch else { return retryLater(engine) }
        engine.attempt = (held, watch)
    }

    private func attempted(_ engine: RunningEngine) {
        guard let (socket, watch) = engine.attempt else { return }
        loop.cancel(watch)
        let accepted = Loopback.wasAccepted(socket.number)
        engine.attempt = nil
        // Somebody else may have taken the port meanwhile and wait for our secret.
        guard accepted, (try? Loopback.listener(on: engine.port)) == user else { return retryLater(engine) }
        engine.isReady = true
        endDeadline(engine)
        tell(.ready(generation: engine.start.generation))
    }

    /// An engine that is ready has all the time in the world, and nothing wakes up for it.
    private func endDeadline(_ engine: RunningEngine) {
        guard engine.isReady, engine.namespaces != nil, let deadline = engine.deadline else { return }
        loop.cancel(deadline)
        engine.deadline = nil
    }

    private func retryLater(_ engine: RunningEngine) {
        guard !engine.isReady, !engine.retryPending else { return }
        engine.retryPending = true
        engine.timers.append(
            loop.after(milliseconds: Self.retry) { [unowned self, weak engine] in
                guard let engine else { return }
                engine.retryPending = false
                tryConnecting(engine)
            })
    }

    /// Ends an engine that cannot be used; the failure is told once it is gone.
    func giveUp(_ engine: RunningEngine, _ failure: Failure) {
        engine.failure = engine.failure ?? failure
        _ = engine.process.signal(Signal.kill)
    }
}
