// What the tunnel hears from the engine host.

internal import Commands
internal import EngineHost
internal import JSON
internal import Linux
internal import Logging
internal import Session

extension Tunnel {
    func hearEngineHost() {
        while true {
            switch channel.receive() {
            case .nothing: return
            case .gone: return engineHostGone()
            case .message(let json, let descriptors):
                guard let event = HostEvent(json: json) else {
                    descriptors.forEach { Descriptor(owning: $0).close() }
                    return engineHostGone()
                }
                take(event, descriptors)
            }
        }
    }

    private func take(_ event: HostEvent, _ descriptors: [Int32]) {
        var descriptors = descriptors[...]
        let first = descriptors.popFirst()
        descriptors.forEach { Descriptor(owning: $0).close() }
        let owned = first.map { HeldNamespace($0) }
        switch event {
        case .started(generation, let pid, let api, let profile):
            engine = (pid, api, profile)
            handle(.engineStarted)
        case .unchanged(generation): handle(.engineUnchanged)
        case .namespace(generation):
            guard let owned, isSandbox(owned.number) else { return handle(.stepFailed(Self.notASandbox)) }
            namespace = owned
            handle(.namespaceReady)
        case .ready(generation): handle(.engineReady)
        case .mode(generation, let isRule):
            handle(.modeTold(allows: isRule && engine?.profile == memory.domesticProfile))
        case .wired(generation):
            // The link was made anew under a tunnel that is up: only now can anything be proven.
            if session.phase == .connected {
                networkChanges += 1
                onChange()
            }
            handle(.sandboxWired)
        case .wireFailed(generation, let failure): handle(.stepFailed(failure))
        case .failed(generation, let failure):
            engine = nil
            handle(.engineFailed(failure, upMilliseconds: upMilliseconds))
        case .stopped(let asked):
            if stopping?.generation == asked { waitNoLongerForStop() }
            // Another one may have been asked for meanwhile.
            guard asked == generation else { return }
            engine = nil
            handle(.engineStopped)
        case .listing(let lines):
            let waiters = listingWaiters
            listingWaiters = []
            waiters.forEach { $0(lines) }
        case .log(let failure):
            guard !logWaiters.isEmpty else { return }
            let waiter = logWaiters.removeFirst()
            if !logWaiters.isEmpty { ask(.log) }
            if let owned { waiter(.success(owned.number)) } else { waiter(.failure(failure ?? Self.noLog)) }
        default:
            // Late news of an engine that is not the current one.
            log(.debug, "late news from the engine host")
        }
    }

    /// Asks for a descriptor of the engine's log; one question at a time, so that many who ask do not fill the channel.
    func openEngineLog(_ answer: @escaping (Result<Int32, Failure>) -> Void) {
        logWaiters.append(answer)
        if logWaiters.count == 1 { ask(.log) }
    }

    /// The engine host has proven it; the worker looks for itself before it changes a network by this descriptor.
    private func isSandbox(_ descriptor: Int32) -> Bool {
        guard let network = try? NamespaceIdentity(of: descriptor, kind: .network),
            let owner = try? NamespaceIdentity(ownerOf: descriptor),
            let ownNetwork = try? NamespaceIdentity(ofThisThread: .network),
            let ownUser = try? NamespaceIdentity(ofThisThread: .user)
        else { return false }
        return network != ownNetwork && owner != ownUser
    }

    private static let notASandbox = Failure(
        .untrustedSandbox, "The engine host sent something that is no sandbox.",
        remedy: "Use an unchanged sing-box 1.14 or newer.")
    private static let noLog = Failure(.noLog, "The engine's log cannot be read.", remedy: "Connect first.")

    func engineHostGone() {
        let isNews = forgetEngineHost()
        waitNoLongerForStop()
        let failure = Failure(
            .engineHostGone, "The engine host has ended, and the engine with it.",
            remedy: "Disconnect, then start trocket-tunnel again.")
        engine = nil
        if isNews { log(.error, "the engine host is gone") }
        listingWaiters.forEach { $0([]) }
        listingWaiters = []
        logWaiters.forEach { $0(.failure(failure)) }
        logWaiters = []
        handle(.engineHostGone(failure))
    }
}
