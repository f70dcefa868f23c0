// Working inside the sandbox: short-lived copies of this process enter it, for entering a user namespace is for good.

internal import Commands
internal import JSON
internal import Linux
internal import Logging
internal import NetworkPlan
internal import TunnelHost

extension EngineHost {
    /// The longest the TUN may take to appear, in milliseconds.
    private static let patience = 15_000
    /// The longest all of the wiring may take, and a listing, in milliseconds.
    private static let (wiringDeadline, listingDeadline) = (20_000, 5_000)

    /// Sets up the inside once links and TUN are there, and tells the worker.
    func wire(_ generation: Int) {
        guard let engine, engine.start.generation == generation, let namespaces = engine.namespaces else { return }
        let plan = engine.start.sandbox
        inside(engine, namespaces, within: Self.wiringDeadline, { try Self.wire(plan) }) { [unowned self] answer in
            if answer["wired"].bool == true { return tell(.wired(generation: generation)) }
            let why = answer["failure"].string ?? "it ended without a word"
            tell(
                .wireFailed(
                    generation: generation,
                    Failure(
                        .sandboxNetwork, "The network inside the sandbox could not be set up: \(why).",
                        remedy: "Look at the worker's log; run trocket-controller doctor.")))
        }
    }

    /// Lists the inside for the worker, which asks no second time before it has an answer.
    func list() {
        guard let engine, let namespaces = engine.namespaces else { return tell(.listing([])) }
        let plan = engine.start.sandbox
        engine.isListed = true
        inside(
            engine, namespaces, within: Self.listingDeadline,
            { ["lines": .strings(try SandboxNetwork(log: Log("", sink: MemorySink())).snapshot(plan))] },
            then: { [unowned self] answer in
                engine.isListed = false
                tell(.listing(answer["lines"].listed.compactMap(\.string)))
            })
    }

    /// Runs in the copy.
    private static func wire(_ plan: SandboxPlan) throws -> JSON {
        let network = try SandboxNetwork(log: Log("", sink: MemorySink()))
        let loop = try EventLoop()
        for descriptor in network.descriptors { try loop.watch(descriptor) { _ in network.drain() } }
        let deadline = Moment.now.adding(milliseconds: patience)
        while case .waiting(let links) = try network.wire(plan) {
            let left = deadline.milliseconds(since: Moment.now)
            guard left > 0 else { return ["failure": .string("\(links.joined(separator: ", ")) did not appear")] }
            try loop.turn(timeout: Int32(clamping: left))
        }
        return ["wired": true]
    }

    /// Does something inside the sandbox and hands on what it answers; a failure becomes `{"failure": …}`.
    private func inside(
        _ engine: RunningEngine, _ namespaces: HeldNamespaces, within milliseconds: Int, _ work: () throws -> JSON,
        then finish: @escaping (JSON) -> Void
    ) {
        do {
            weak var mine: SandboxCopy?
            let copy = try SandboxCopy(in: loop, within: milliseconds) {
                try enterNamespace(namespaces.user, .user)
                try enterNamespace(namespaces.network, .network)
                return try work()
            } then: { answer in
                engine.copies.removeAll { $0 === mine }
                finish(answer)
            }
            mine = copy
            engine.copies.append(copy)
        } catch {
            finish(["failure": .string("\(error)")])
        }
    }
}
