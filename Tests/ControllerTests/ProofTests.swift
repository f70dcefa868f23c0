// The proof of a connection: what a request that hangs costs.

import CommandLine
import Commands
import JSON
import Linux
import Messages
import Testing

@testable import Controller

struct ProofTests {
    /// A server that says its port, keeps the first who comes waiting and answers the second.
    private static let server = """
        import socket
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        first, _ = listener.accept()
        second, _ = listener.accept()
        second.recv(65536)
        second.sendall(b"HTTP/1.1 204 No Content\\r\\nConnection: close\\r\\n\\r\\n")
        second.close()
        first.recv(65536)
        first.recv(65536)
        """

    /// Runs the server.
    /// - Parameter body: gets a context that asks it.
    private func withServer(
        socket: String = "", stateDirectory: String = "/nonexistent", print: @escaping (String) -> Void = { _ in },
        _ body: (Context) throws -> Void
    ) throws {
        let pipe = try Pipe()
        var request = ChildRequest(path: "/usr/bin/python3", arguments: ["python3", "-I", "-c", Self.server])
        request.environment = []
        request.descriptors = [1: pipe.writer.number]
        let child = try ChildProcess(starting: request)
        defer { child.end(graceMilliseconds: 0) }
        guard case .bytes(let said) = try readSome(pipe.reader.number) else { throw UnexpectedEnd() }
        let port = String(decoding: said, as: UTF8.self).split(separator: "\n").first ?? ""
        let output = Output(
            language: .english, json: true, quiet: true, isWatched: false, columns: 80, writeOutput: print,
            writeError: { _ in })
        let variables = ["TROCKET_PROBE_URL": "http://127.0.0.1:\(port)/", "TROCKET_SOCKET": socket]
        try body(Context(output: output, variable: { variables[$0] }, user: 1000, stateDirectory: stateDirectory))
    }

    @Test func aRequestThatHangsIsNotTheLastWord() throws {
        try withServer { context in
            let proof = Proof.take(context, milliseconds: 20_000)
            #expect(proof.isGood && proof.error == nil, "\(proof)")
        }
    }

    /// One datagram that is lost makes no line dead.
    @Test func statusWaitsForTheSecondRequest() throws {
        let tunnel = try FakeTunnel()
        defer { tunnel.stop() }
        var printed = ""
        try withServer(socket: tunnel.socket, print: { printed += $0 }) { context in
            _ = try Verb.status.run(context, Program.table.parse(["status", "--json"]))
        }
        let status = try JSON.parse(printed)
        #expect(status["proof"]["ok"] == true, "\(printed)")
        #expect(status["reason"].isNull)
    }

    private struct UnexpectedEnd: Error {}
}
