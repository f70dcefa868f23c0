// Measuring dead lines with the real engine: every line gets an outcome, and the causes are told apart.

import EngineControl
import JSON
import Linux
import Messages
import Store
import TestSockets
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
            variable: {
                switch $0 {
                case "TROCKET_SOCKET": "/nonexistent/socket"
                case "TROCKET_PROBE_URL": nil
                default: Surroundings.variable($0)
                }
            },
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
        // The first port is taken and nobody listens on it; the second's queue takes connections that nobody ever serves.
        let refusing = try LoopbackListener(listening: false)
        let closed = Int(refusing.port)
        let silent = try LoopbackListener()
        let servers = [("closed [1]: x", closed), ("silent 🇭🇰", Int(silent.port))]
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
        let measurement = try Measurement(context, lines: lines, timeout: 5000, concurrency: 8) { position, outcome in
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
        withExtendedLifetime((refusing, silent)) {}
    }
}
