// Asking the engine for its mode. The worker may not connect to anything, and only a tunnel taken up after a worker's death
// needs to know.

internal import Commands
internal import JSON
internal import Linux

/// The question under way, and what has been answered so far.
final class ModeQuestion {
    let socket: OwnedDescriptor
    var watch: EventLoop.Token?
    var deadline: EventLoop.Token?
    var isSent = false
    var said: [UInt8] = []

    init(_ socket: consuming Descriptor) { self.socket = OwnedDescriptor(socket) }

    func end(in loop: EventLoop) {
        for token in [watch, deadline].compactMap(\.self) { loop.cancel(token) }
        watch = nil
        deadline = nil
    }
}

extension EngineHost {
    /// The longest an answer may take, in milliseconds, and be, in bytes.
    private static let patience = 2_000
    private static let answerSize = 65_536

    /// Tells the worker whether the engine is in Rule mode. One that cannot be asked is not.
    func tellMode(_ generation: Int) {
        guard let engine, engine.start.generation == generation, engine.isReady, engine.exitCode == nil,
            let socket = try? Loopback.connect(engine.port)
        else { return tell(.mode(generation: generation, isRule: false)) }
        engine.question?.end(in: loop)
        let question = ModeQuestion(socket)
        engine.question = question
        question.deadline = loop.after(milliseconds: Self.patience) { [unowned self] in answered(engine, question) }
        question.watch = try? loop.watch(question.socket.number, .writable) { [unowned self] _ in
            question.isSent ? hear(engine, question) : send(engine, question)
        }
        if question.watch == nil { answered(engine, question) }
    }

    private func send(_ engine: RunningEngine, _ question: ModeQuestion) {
        // HTTP/1.0: one answer, whole, and then the end.
        let request =
            "GET /configs HTTP/1.0\r\nHost: \(engine.api.address)\r\nAuthorization: Bearer \(engine.api.secret)\r\n\r\n"
        // As when it got ready: somebody else may have the port by now.
        guard Loopback.wasAccepted(question.socket.number), (try? Loopback.listener(on: engine.port)) == user,
            let watch = question.watch, (try? writeAll(question.socket.number, Array(request.utf8))) != nil,
            (try? loop.rewatch(watch, .readable)) != nil
        else { return answered(engine, question) }
        question.isSent = true
    }

    private func hear(_ engine: RunningEngine, _ question: ModeQuestion) {
        while question.said.count <= Self.answerSize {
            switch try? readSome(question.socket.number) {
            case .bytes(let bytes)?: question.said += bytes
            case .wouldBlock?: return
            case .end?, nil: return answered(engine, question)
            }
        }
        question.said = []
        answered(engine, question)
    }

    private func answered(_ engine: RunningEngine, _ question: ModeQuestion) {
        question.end(in: loop)
        engine.question = nil
        tell(.mode(generation: engine.start.generation, isRule: Self.isRule(question.said)))
    }

    /// Whether an answer to `GET /configs` is whole and names Rule mode.
    static func isRule(_ answer: [UInt8]) -> Bool {
        let text = String(decoding: answer, as: UTF8.self)
        guard let line = text.split(separator: "\r\n").first, line.hasPrefix("HTTP/1."), line.hasSuffix(" 200 OK"),
            let end = text.firstRange(of: "\r\n\r\n"),
            let settings = try? JSON.parse(Array(text[end.upperBound...].utf8))
        else { return false }
        return settings["mode"].string == "Rule"
    }
}
