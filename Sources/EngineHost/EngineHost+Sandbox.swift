// Working inside the sandbox: short-lived copies of this process enter it, for entering a user namespace is for good.

internal import Commands
internal import JSON
internal import Linux
internal import Logging
internal import NetworkPlan
internal import TunnelHost

/// A copy of this process inside a sandbox, and what it has said so far.
final class SandboxCopy {
    let pid: Int32
    let output: OwnedDescriptor
    var said: [UInt8] = []
    var token: EventLoop.Token?

    init(pid: Int32, output: OwnedDescriptor) {
        self.pid = pid
        self.output = output
    }

    func end(in loop: EventLoop) {
        if let token { loop.cancel(token) }
        token = nil
        ForkedChild.kill(pid)
    }
}

extension EngineHost {
    /// The longest the TUN may take to appear, in milliseconds.
    private static let patience = 15_000
    /// Bytes of a copy's answer at most; more is cut off.
    private static let answerLimit = 128 * 1024

    /// Sets up the inside once links and TUN are there, and tells the worker.
    func wire(_ generation: Int) {
        guard let engine, engine.start.generation == generation, let namespaces = engine.namespaces else { return }
        let plan = engine.start.sandbox
        inside(engine, namespaces, { try Self.wire(plan) }) { [unowned self] answer in
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

    /// Lists the inside for the worker.
    func list() {
        guard let engine, let namespaces = engine.namespaces else { return tell(.listing([])) }
        let plan = engine.start.sandbox
        inside(
            engine, namespaces,
            { ["lines": .strings(try SandboxNetwork(log: Log("", sink: MemorySink())).snapshot(plan))] },
            then: { [unowned self] answer in tell(.listing(answer["lines"].listed.compactMap(\.string))) })
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
        _ engine: RunningEngine, _ namespaces: HeldNamespaces, _ work: () throws -> JSON,
        then finish: @escaping (JSON) -> Void
    ) {
        do {
            let pipe = try Pipe()
            let writer = pipe.writer.number
            let pid = try ForkedChild.run {
                var answer: JSON
                do {
                    try enterNamespace(namespaces.user, .user)
                    try enterNamespace(namespaces.network, .network)
                    answer = try work()
                } catch { answer = ["failure": .string("\(error)")] }
                try? writeAll(writer, answer.encoded())
                return 0
            }
            let reader = pipe.keepingReader()
            try reader.setNonBlocking(true)
            let copy = SandboxCopy(pid: pid, output: OwnedDescriptor(reader))
            engine.copies[pid] = copy
            copy.token = try loop.watch(copy.output.number) { [unowned self] _ in
                hear(copy, of: engine, finish)
            }
        } catch {
            finish(["failure": .string("\(error)")])
        }
    }

    private func hear(_ copy: SandboxCopy, of engine: RunningEngine, _ finish: (JSON) -> Void) {
        while true {
            switch try? readSome(copy.output.number) {
            case .bytes(let bytes)? where copy.said.count < Self.answerLimit: copy.said += bytes
            case .bytes?: continue
            case .wouldBlock?: return
            case .end?, nil:
                copy.end(in: loop)
                engine.copies[copy.pid] = nil
                finish((try? JSON.parse(copy.said)) ?? [:])
                return
            }
        }
    }
}
