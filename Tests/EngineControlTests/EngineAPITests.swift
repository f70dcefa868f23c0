// The control API's client against a server on loopback.

import JSON
import Testing
import Transfer

@testable import EngineControl

@Suite struct EngineAPITests {
    private func api(_ server: FakeAPI) -> EngineAPI {
        EngineAPI(client: HTTPClient(), address: "127.0.0.1:\(server.port)", secret: "secret")
    }

    @Test func selectsByPutWithTheTokenAndAnEncodedName() throws {
        let server = try FakeAPI(["PUT /proxies/a%20%7C%20%F0%9F%87%AD%F0%9F%87%B0%2Fb": (204, "")])
        defer { server.stop() }
        try api(server).select("香港 \"1\"", in: "a | 🇭🇰/b")
        #expect(server.requests == [#"PUT /proxies/a%20%7C%20%F0%9F%87%AD%F0%9F%87%B0%2Fb {"name":"香港 \"1\""}"#])
    }

    @Test func saysWhyTheEngineRefused() throws {
        let server = try FakeAPI(["PUT /proxies/proxy": (400, #"{"message":"Selector update error: not found"}"#)])
        defer { server.stop() }
        #expect(throws: EngineFailure.refused(status: 400, message: "Selector update error: not found")) {
            try api(server).select("gone", in: "proxy")
        }
    }

    @Test func switchesTheMode() throws {
        let server = try FakeAPI(["PATCH /configs": (204, "")])
        defer { server.stop() }
        try api(server).setMode("Global")
        #expect(server.requests == [#"PATCH /configs {"mode":"Global"}"#])
    }

    @Test func putsLineAndModeInForceTogether() throws {
        var answers = [
            "PUT /proxies/proxy": (204, ""), "PATCH /configs": (204, ""),
            "GET /proxies/proxy": (200, #"{"type":"Selector","now":"a"}"#),
            "GET /configs": (200, #"{"mode":"Global"}"#),
        ]
        let server = try FakeAPI(answers)
        defer { server.stop() }
        try api(server).putInForce("a", in: "proxy", mode: "Global")
        #expect(server.requests.contains(#"PUT /proxies/proxy {"name":"a"}"#))
        #expect(server.requests.contains(#"PATCH /configs {"mode":"Global"}"#))

        answers["PATCH /configs"] = (400, #"{"message":"no such mode"}"#)
        answers["GET /configs"] = (200, #"{"mode":"Rule"}"#)
        let refusing = try FakeAPI(answers)
        defer { refusing.stop() }
        #expect(throws: EngineFailure.refused(status: 400, message: "no such mode")) {
            try api(refusing).putInForce("a", in: "proxy", mode: "Global")
        }

        answers["PATCH /configs"] = (204, "")
        let ignoring = try FakeAPI(answers)
        defer { ignoring.stop() }
        #expect { try api(ignoring).putInForce("a", in: "proxy", mode: "Global") } throws: { error in
            guard case EngineFailure.unreachable = error else { return false }
            return true
        }
    }

    @Test func namesAnEngineThatIsGone() throws {
        let server = try FakeAPI([:])
        server.stop()
        let api = EngineAPI(client: HTTPClient(), address: "127.0.0.1:1", secret: "secret")
        #expect { try api.version() } throws: { error in
            guard case EngineFailure.unreachable = error else { return false }
            return true
        }
    }

    @Test func takesASnapshot() throws {
        let connection = """
            {"id":"c1","metadata":{"network":"tcp","type":"redirect/redirect","sourceIP":"fd74::1","sourcePort":"40000",
            "destinationIP":"203.0.113.9","destinationPort":"443","host":"example.com"},"upload":12,"download":345,
            "start":"2026-11-30T02:00:00Z","chains":["line"],"rule":"final","rulePayload":""}
            """
        let server = try FakeAPI([
            "GET /version": (200, #"{"meta":true,"version":"sing-box 1.14.2"}"#),
            "GET /configs": (200, #"{"mode":"Rule"}"#),
            "GET /connections": (
                200, #"{"connections":[\#(connection)],"downloadTotal":9,"uploadTotal":8,"memory":7}"#
            ),
            "GET /proxies/proxy": (200, #"{"now":"auto","all":["auto","line"]}"#),
            "GET /proxies/auto": (200, #"{"now":"","all":["line"]}"#),
        ])
        defer { server.stop() }
        let snapshot = try api(server).snapshot(selector: "proxy", automatic: "auto")
        #expect(snapshot.version == "1.14.2")
        #expect(snapshot.mode == "Rule")
        #expect(snapshot.selected == "auto")
        #expect(snapshot.automatic == nil)
        #expect(snapshot.traffic.download == 9)
        #expect(snapshot.traffic.upload == 8)
        let first = try #require(snapshot.traffic.connections.first)
        #expect(first.destination == "example.com:443")
        #expect(first.source == "[fd74::1]:40000")
        #expect(first.chain == ["line"])
        #expect(server.requests.allSatisfy { !$0.hasSuffix("(no token)") })
    }

    /// An engine gone wrong may tell any number; sums of what is shown must not end the program.
    @Test func absurdFiguresAreBounded() throws {
        let most = "9223372036854775807"
        let server = try FakeAPI([
            "GET /connections": (
                200,
                #"{"connections":[{"upload":\#(most),"download":\#(most)}],"downloadTotal":-5,"uploadTotal":\#(most)}"#
            )
        ])
        defer { server.stop() }
        let list = try api(server).connections()
        #expect(list.download == 0)
        let connection = try #require(list.connections.first)
        #expect(connection.upload + connection.download + list.upload > 0)
        let rate = TrafficRate(["up": .int(Int.max), "down": .int(Int.min)])
        // A month of them.
        #expect(!rate.up.multipliedReportingOverflow(by: 31 * 86_400).overflow)
        #expect(rate.down == 0)
    }

    @Test func measuresEveryLineOnceAndTellsTimeoutFromError() throws {
        let path = "/delay?timeout=3000&url=https%3A%2F%2Fa.test%2F"
        let server = try FakeAPI([
            "GET /proxies/good\(path)": (200, #"{"delay":42}"#),
            "GET /proxies/slow\(path)": (504, #"{"message":"Timeout"}"#),
            "GET /proxies/bad\(path)": (503, #"{"message":"An error occurred in the delay test"}"#),
        ])
        defer { server.stop() }
        let client = HTTPClient()
        let api = EngineAPI(client: client, address: "127.0.0.1:\(server.port)", secret: "secret")
        var outcomes: [Int: DelayOutcome] = [:]
        let run = DelayRun(
            ["good", "slow", "bad"], api: api, client: client, url: "https://a.test/", timeout: 3000, concurrency: 2
        ) { position, outcome, _ in outcomes[position] = outcome }
        while !run.isDone {
            run.pump()
            client.wait(milliseconds: 50)
        }
        #expect(outcomes == [0: .milliseconds(42), 1: .failed(.timeout), 2: .failed(.failed)])
        #expect(server.requests.count == 3)
    }
}

@Suite struct DelayDiagnosisTests {
    @Test func findsTheLineWhateverItsName() throws {
        let log =
            "+0000 2026-11-30 02:20:01 ERROR [1 0ms] connection: open connection to www.gstatic.com:443 using "
            + "outbound/trojan[HK [x2]: 01]: dial tcp 127.0.0.1:9: connect: connection refused"
        let found = try #require(DelayDiagnosis.cause(in: log, among: ["HK [x2]: 01", "HK [x2"]))
        #expect(found.tag == "HK [x2]: 01")
        #expect(DelayDiagnosis.error(for: found.reason) == .refused)
        #expect(DelayDiagnosis.cause(in: log, among: ["other"]) == nil)
        #expect(DelayDiagnosis.cause(in: "INFO sing-box started (0.00s)", among: ["other"]) == nil)
    }

    @Test(arguments: [
        ("dial tcp 127.0.0.1:9: connect: connection refused", DelayError.refused),
        ("lookup nope.invalid: no such host", .dns),
        ("dns: exchange failed: NXDOMAIN", .dns),
        ("lookup a.test: (exchange4: read udp 127.0.0.1:1->127.0.0.1:9: read: connection refused)", .dns),
        ("tls: failed to verify certificate: x509: certificate signed by unknown authority", .tls),
        ("CRYPTO_ERROR 0x12a: tls: bad certificate", .tls),
        ("dial tcp 192.0.2.1:443: i/o timeout", .timeout),
        ("timeout: no recent network activity", .timeout),
        ("dial tcp: connect: network is unreachable", .unreachable),
        ("EOF", .proxy),
        ("authentication failed, status code: 404", .proxy),
    ])
    func classes(reason: String, expected: DelayError) { #expect(DelayDiagnosis.error(for: reason) == expected) }
}
