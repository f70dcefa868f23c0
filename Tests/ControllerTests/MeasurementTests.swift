// Measuring dead lines with the real engine: every line gets an outcome, and the causes are told apart.

import EngineControl
import Glibc
import JSON
import Linux
import Messages
import Store
import Testing

@testable import Controller

@Suite(.enabled(if: Surroundings.variable("TROCKET_ENGINE") != nil)) struct MeasurementTests {
    /// Lines that fail on loopback in ways the engine names.
    private func outbound(_ name: String, server: String, port: Int) -> JSON {
        [
            "type": "trojan", "tag": .string(name), "server": .string(server), "server_port": .int(port),
            "password": "x", "tls": ["enabled": true, "server_name": "a.test"],
        ]
    }

    private func line(_ name: String) -> StoredLine {
        StoredLine(identity: name, tag: name, name: name, type: "trojan", server: "", port: nil, multiplier: nil)
    }

    /// Surroundings without a worker, with a stored subscription.
    private func context(_ directory: TemporaryDirectory, _ profile: JSON, _ lines: [StoredLine]) throws -> Context {
        let record = SubscriptionRecord(
            link: nil, agent: nil, title: nil, format: "sing-box", fetchedAt: 0, intervalHours: nil, quota: nil,
            lines: lines, sources: [], report: nil, domesticAddressesAreDirect: false, engine: "")
        let output = Output(
            language: .english, json: false, quiet: true, isWatched: false, columns: 80, writeOutput: { _ in },
            writeError: { _ in })
        let context = Context(
            output: output,
            variable: { $0 == "TROCKET_SOCKET" ? "/nonexistent/socket" : Surroundings.variable($0) },
            stateDirectory: directory.path)
        try context.state().commit(record, profile: profile.encoded(), bodies: []) { _ in }
        return context
    }

    /// The engine quotes what it cannot use, and the profile of an older release, or one somebody changed, may hold that.
    @Test func whatTheEngineQuotesIsNotShown() throws {
        let directory = try TemporaryDirectory()
        let secret = "hunter2-in-the-wrong-field"
        var bad = outbound("A", server: "127.0.0.1", port: 1)
        bad["connect_timeout"] = .string(secret)
        let profile: JSON = ["outbounds": [bad, ["type": "direct", "tag": "direct"]]]
        let context = try context(directory, profile, [line("A")])
        do {
            _ = try Measurement(context, lines: [line("A")], timeout: 1000, concurrency: 1) { _, _ in }
            Issue.record("The engine took it.")
        } catch {
            let failure = Failure(describing: error)
            #expect(failure.code == "engine-ended")
            #expect(
                failure.message(.english).contains("connect_timeout") && failure.message(.english).contains("…"),
                "\(failure.message(.english))")
            #expect(!failure.message(.english).contains(secret), "\(failure.message(.english))")
        }
        _ = try context.state().forget()
    }

    @Test func tellsWhyLinesFail() throws {
        let directory = try TemporaryDirectory()
        // Nobody listens on the first port; the second takes connections and never says a word.
        let closed = Int(try Loopback.freePort())
        let silent = try SilentServer()
        let servers = [("closed [1]: x", closed), ("silent 🇭🇰", silent.port)]
        let profile: JSON = [
            "dns": [
                "servers": [["type": "udp", "tag": "dns-direct", "server": "127.0.0.1", "server_port": .int(closed)]]
            ],
            "outbounds": .array(
                servers.map { outbound($0.0, server: "127.0.0.1", port: $0.1) }
                    + [outbound("nameless", server: "no.such.invalid", port: 443)]
                    + [["type": "direct", "tag": "direct"]]),
        ]
        let names = servers.map(\.0) + ["nameless"]
        let lines = names.map(line)
        let context = try context(directory, profile, lines)
        var outcomes: [String: DelayOutcome] = [:]
        let measurement = try Measurement(context, lines: lines, timeout: 1000, concurrency: 8) { position, outcome in
            outcomes[names[position]] = outcome
        }
        while !measurement.isDone { try measurement.step(milliseconds: 100) }
        #expect(outcomes["closed [1]: x"] == .failed(.refused))
        #expect(outcomes["silent 🇭🇰"] == .failed(.timeout))
        #expect(outcomes["nameless"] == .failed(.dns))
        try measurement.store()
        let state = try context.state().load()
        #expect(state.latencies["nameless"]?.error == "dns")
        #expect(state.latencies["nameless"]?.via == "throw-away engine")
        _ = try context.state().forget()
        withExtendedLifetime(silent) {}
    }
}

/// A listening socket whose queue takes connections that nobody ever serves.
private final class SilentServer {
    let port: Int
    private let listener: Int32

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = listener
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                _ = bind(number, raw, length)
                _ = getsockname(number, raw, &length)
            }
        }
        try checkErrno("listening on", "127.0.0.1") { listen(number, 64) }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(listener) }
}
