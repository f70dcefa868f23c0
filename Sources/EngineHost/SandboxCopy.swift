// A copy of this process that does one thing, says what came of it, and ends.

internal import JSON
internal import Linux

/// A copy that works inside a sandbox, and what it has said so far.
final class SandboxCopy {
    /// Bytes of an answer at most; more is cut off.
    private static let answerLimit = 128 * 1024

    private let loop: EventLoop
    private let pid: Int32
    private let output: OwnedDescriptor
    private let finish: (JSON) -> Void
    private var said: [UInt8] = []
    private var tokens: [EventLoop.Token] = []

    /// Starts one.
    /// - Parameters:
    ///   - milliseconds: the time it is given, for a process can be made to wait for ever: it shares a user namespace with
    ///     the engine.
    ///   - work: what it does; a failure becomes `{"failure": …}`.
    ///   - finish: takes the answer, once, and not after `end`.
    init(
        in loop: EventLoop, within milliseconds: Int, _ work: () throws -> JSON, then finish: @escaping (JSON) -> Void
    ) throws {
        self.loop = loop
        self.finish = finish
        let pipe = try Pipe()
        try pipe.reader.setNonBlocking(true)
        let writer = pipe.writer.number
        pid = try ForkedChild.run {
            var answer: JSON
            do { answer = try work() } catch { answer = ["failure": .string("\(error)")] }
            try? writeAll(writer, answer.encoded())
            return 0
        }
        output = OwnedDescriptor(pipe.keepingReader())
        do { tokens.append(try loop.watch(output.number) { [unowned self] _ in hear() }) } catch {
            ForkedChild.kill(pid)
            throw error
        }
        tokens.append(
            loop.after(milliseconds: milliseconds) { [unowned self] in
                end()
                finish(["failure": .string("it took longer than \(milliseconds / 1_000) seconds")])
            })
    }

    /// Ends it; nobody hears of it any more.
    func end() {
        guard !tokens.isEmpty else { return }
        tokens.forEach { loop.cancel($0) }
        tokens = []
        ForkedChild.kill(pid)
    }

    private func hear() {
        while true {
            switch try? readSome(output.number) {
            case .bytes(let bytes)? where said.count < Self.answerLimit: said += bytes
            case .bytes?: continue
            case .wouldBlock?: return
            case .end?, nil:
                end()
                return finish((try? JSON.parse(said)) ?? [:])
            }
        }
    }
}
