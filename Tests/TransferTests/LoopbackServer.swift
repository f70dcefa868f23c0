// The server the tests of this target talk to: a python3 child on loopback.

import Linux

/// The server's ports and certificate. It ends with the test process, when the pipe to its standard input closes.
struct LoopbackServer: Sendable {
    let plain: Int
    let secure: Int
    /// Accepts connections and never answers.
    let silent: Int
    /// The certificate of the secure server.
    let certificate: String

    static let shared: LoopbackServer = {
        do { return try start() } catch { fatalError("the test server does not start: \(error)") }
    }()

    private static func start() throws -> LoopbackServer {
        let script = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        var request = ChildRequest(
            path: "/usr/bin/python3", arguments: ["python3", "/\(script)/Fixtures/server.py"])
        request.environment = ["PATH=/usr/bin:/bin"]
        // The thread that starts it is a pool's and may end before the process does.
        request.parentDeathSignal = nil
        let input = try Pipe()
        let output = try Pipe()
        let inputReader = input.reader.number
        request.descriptors = [0: inputReader, 1: output.writer.number, 2: 2]
        _ = try ChildProcess(starting: request)
        // Held open until this process ends.
        _ = try input.writer.duplicate().release()
        var line: [UInt8] = []
        while !line.contains(10) {
            guard case .bytes(let bytes) = try readSome(output.reader.number) else { break }
            line += bytes
        }
        let words = String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 4, let plain = Int(words[0]), let secure = Int(words[1]), let silent = Int(words[2])
        else { fatalError("the test server says \(words)") }
        return LoopbackServer(plain: plain, secure: secure, silent: silent, certificate: String(words[3]))
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(plain)\(path)" }
    func secureURL(_ path: String) -> String { "https://localhost:\(secure)\(path)" }
}
