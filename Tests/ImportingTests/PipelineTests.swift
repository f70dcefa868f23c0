// From a provider's answers to the state directory, with the real engine and a provider on loopback.

import EngineControl
import ImportReport
import JSON
import Linux
import Messages
import RuleSets
import Store
import Subscriptions
import Testing
import Transfer

@testable import Importing

private func links(_ names: [(name: String, password: String)]) -> String {
    names.map { "trojan://\($0.password)@node.example.net:443?sni=sni.example.net#\($0.name)" }.joined(separator: "\n")
}

@Suite(.enabled(if: engine != nil, noEngine))
struct PipelineTests {
    private func run(_ text: String, selection: Selection? = nil) throws -> ImportOutcome {
        try importer(store: nil).run(.content(Array(text.utf8)), selection: selection)
    }

    @Test func bothAgentsAreAskedAndMerged() throws {
        let provider = try Provider()
        try provider.files.write("s", links([("A", "pw-a"), ("B", "pw-b")]))
        try provider.files.write("s.headers", "Profile-Title: base64:5oiR55qE5py65Zy6\nProfile-Update-Interval: 24")
        try provider.files.write("s@clash", links([("A renamed", "pw-a"), ("C", "pw-c"), ("剩余流量：5 GB", "pw-a")]))
        try provider.files.write("s@clash.headers", "Subscription-Userinfo: upload=1; download=2; total=30")
        let outcome = try importer(store: nil).run(.link(provider.url("/s?token=SECRET"), title: nil))
        let agents = outcome.agents
        #expect(agents.map(\.agent) == ["sing-box/\(try #require(engine).version)", Importer.clashAgent])
        #expect(agents.map(\.lines) == [2, 2])
        #expect(agents.map(\.added) == [2, 1])
        #expect(agents.map(\.status) == [200, 200])
        #expect(outcome.lines.map(\.name) == ["A", "B", "C"])
        #expect(outcome.notes == ["剩余流量：5 GB"])
        #expect(outcome.quota == Quota(upload: 1, download: 2, total: 30))
        #expect(outcome.title == "我的机场")
        #expect(outcome.intervalHours == 24)
        #expect(outcome.warnings == [.insecureLink])
        #expect(outcome.format == "links")
        #expect(outcome.startsOffline)
        #expect(!outcome.report.text().contains("SECRET"))
        #expect(provider.requests.count == 2)
    }

    @Test func eitherAgentMayFailAlone() throws {
        let provider = try Provider()
        try provider.files.write("s", "no")
        try provider.files.write("s.status", "403")
        try provider.files.write("s@clash", links([("A", "pw")]))
        var outcome = try importer(store: nil).run(.link(provider.url("/s"), title: "T"))
        #expect(outcome.lines.map(\.name) == ["A"])
        #expect(outcome.title == "T")
        #expect(outcome.agents.map(\.error) == ["http", nil])
        #expect(outcome.agents[0].status == 403)
        #expect(outcome.warnings.contains(.agentFailed(agent: outcome.agents[0].agent, code: "http")))
        try provider.files.write("s@clash", "<html><title>Login</title></html>")
        try provider.files.write("s", links([("B", "pw")]))
        provider.files.delete("s.status")
        outcome = try importer(store: nil).run(.link(provider.url("/s"), title: nil))
        #expect(outcome.agents.map(\.error) == [nil, "not-a-subscription"])
        #expect(outcome.lines.map(\.name) == ["B"])
    }

    @Test func bothAgentsAreAskedAtOnce() throws {
        var asked: [[String]] = []
        let error = importError {
            _ = try importer(store: nil) { requests in
                asked.append(requests.map(\.agent))
                return requests.map { _ in .failure(TransferError(.timeout, .time, server: "", detail: "too slow")) }
            }.run(.link("https://a.example/s", title: nil))
        }
        #expect(asked == [["sing-box/\(try #require(engine).version)", Importer.clashAgent]])
        #expect(error?.code == .timeout)
    }

    @Test func theSameBodyTwiceAddsNothing() throws {
        let provider = try Provider()
        try provider.files.write("s", links([("A", "a"), ("B", "b")]))
        let outcome = try importer(store: nil).run(.link(provider.url("/s"), title: nil))
        #expect(outcome.agents.map(\.lines) == [2, 2])
        #expect(outcome.agents.map(\.added) == [2, 0])
        let only = try importer(store: nil).run(.link(provider.url("/s"), title: nil), agent: "mine/1")
        #expect(only.agents.map(\.agent) == ["mine/1"])
    }

    @Test func failuresOfFetchingHaveTheirCodesAndNoSecret() throws {
        let provider = try Provider()
        try provider.files.write("gone", "")
        try provider.files.write("gone.status", "404")
        try provider.files.write("busy", "")
        try provider.files.write("busy.status", "503")
        try provider.files.write("loop", "")
        try provider.files.write("loop.status", "302")
        try provider.files.write("loop.headers", "Location: /loop")
        try provider.files.write("empty", " \n")
        try provider.files.write("page", "<!DOCTYPE html><html><title>Just a moment</title>vmess://x</html>")
        try provider.files.write("refusal", #"{"message":"token is error"}"#)
        try provider.files.write("big.headers", "")
        try provider.files.write("damaged", [0x1f, 0x8b, 8, 0, 1, 2, 3])
        let cases: [(String, ImportError.Code, Bool)] = [
            ("gone", .http, false), ("busy", .http, true), ("loop", .tooManyRedirects, false), ("empty", .empty, false),
            ("page", .notASubscription, false), ("refusal", .providerError, false), ("damaged", .fetch, true),
        ]
        for (path, code, temporary) in cases {
            let link = provider.url("/\(path)?token=SECRET")
            let error = importError { _ = try importer(store: nil).run(.link(link, title: nil)) }
            #expect(error?.code == code, "\(path)")
            #expect(error?.isTemporary == temporary, "\(path)")
            for text in [error?.message, error?.remedy] {
                #expect(text?.english.contains("SECRET") == false && text?.chinese.contains("SECRET") == false)
                #expect(text?.english.isEmpty == false && text?.chinese.isEmpty == false)
            }
        }
        let refused = importError { _ = try importer(store: nil).run(.link("http://127.0.0.1:1/SECRET", title: nil)) }
        #expect(refused?.code == .fetch)
        #expect(refused?.message.english.contains("127.0.0.1/…: Connection refused") == true)
    }

    @Test func providersListsAreFetchedAndJoined() throws {
        let provider = try Provider()
        let node = "{name: P1, type: trojan, server: node.example.net, port: 443, password: pw}"
        try provider.files.write("list", "proxies:\n  - \(node)\n")
        try provider.files.write(
            "s",
            """
            proxies: []
            proxy-providers:
              main: {type: http, url: "\(provider.url("/list?token=SECRET"))"}
              lost: {type: http, url: "\(provider.url("/lost"))"}
            """)
        let outcome = try importer(store: nil).run(.link(provider.url("/s"), title: nil), agent: "clash")
        #expect(outcome.lines.map(\.name) == ["P1"])
        #expect(outcome.warnings.contains(.providerFailed(name: "lost", code: "http")))
        #expect(outcome.bodies.map(\.provider) == [nil, "main"])
        #expect(!outcome.report.text().contains("SECRET"))
        provider.files.delete("list")
        let error = importError {
            _ = try importer(store: nil).run(.link(provider.url("/s"), title: nil), agent: "clash")
        }
        #expect(error?.code == .noLines)
    }

    @Test func whatTheEngineRefusesCostsOnlyItself() throws {
        let yaml = """
            proxies:
              - {name: good, type: trojan, server: node.example.net, port: 443, password: pw}
              - {name: bad key, type: ssh, server: node.example.net, port: 22, username: u, private-key: "-----BEGIN SECRETKEY"}
              - {name: bad host key, type: ssh, server: node.example.net, port: 22, username: u, password: p, host-key: [SECRETHOST]}
              - {name: behind, type: ss, server: 1.2.3.4, port: 1, cipher: aes-128-gcm, password: p, dialer-proxy: bad key}
            """
        let outcome = try run(yaml)
        #expect(outcome.lines.map(\.name) == ["good"])
        var reasons: [String: DropReason] = [:]
        for line in outcome.dropped { reasons[line.name] = line.reason }
        #expect(reasons == ["bad key": .kernelRejected, "bad host key": .kernelRejected, "behind": .dialerUnresolved])
        #expect(!outcome.report.text().contains("SECRET"))
    }

    @Test func withoutOneGoodLineNothingIsImported() throws {
        let yaml = """
            proxies:
              - {name: bad, type: ssh, server: node.example.net, port: 22, username: u, private-key: "-----BEGIN X"}
            """
        #expect(importError { _ = try run(yaml) }?.code == .noLines)
        #expect(importError { _ = try run("ssr://YWJj") }?.code == .noLines)
    }

    private static func good(_ number: Int) -> String {
        "  - {name: g\(number), type: trojan, server: g\(number).example, port: 443, password: pw}\n"
    }

    /// A line that only the engine refuses.
    private static func bad(_ number: Int) -> String {
        "  - {name: b\(number), type: ssh, server: b\(number).example, port: 22, username: u, private-key: \"-----BEGIN\"}\n"
    }

    @Test func aHundredLinesTheEngineRefusesCostOnlyThemselves() throws {
        let lines = (0..<300).map { Self.good($0) + ($0 < 100 ? Self.bad($0) : "") }
        let outcome = try run("proxies:\n" + lines.joined())
        #expect(outcome.lines.map(\.name) == (0..<300).map { "g\($0)" })
        #expect(outcome.dropped.map(\.name).sorted() == (0..<100).map { "b\($0)" }.sorted())
        #expect(outcome.dropped.allSatisfy { $0.reason == .kernelRejected && $0.detail?.isEmpty == false })
    }

    @Test func whenTimeRunsOutLinesOfARefusedTypeAreDroppedAndSaid() throws {
        let found = try #require(engine)
        var seconds = 0
        let late = Importer(
            engine: found, client: HTTPClient(), library: RuleSetLibrary(store: nil, bundled: "/nonexistent"),
            fetch: { _ in [] }, prepare: { _ in },
            now: {
                seconds += 6
                return seconds
            })
        let lines = (0..<300).map(Self.good) + (0..<100).map(Self.bad)
        let outcome = try late.run(.content(Array(("proxies:\n" + lines.joined()).utf8)))
        #expect(outcome.lines.map(\.name) == (0..<300).map { "g\($0)" })
        #expect(outcome.lines.count + outcome.dropped.count == 400)
        #expect(outcome.dropped.contains { $0.detail?.hasPrefix("not checked") == true })
    }

    @Test func onlyTheRulesTheEngineRefusesAreLeftOut() throws {
        let document = #"""
            {"dns": {"strategy": 4, "client_subnet": "9.9.9.0/24", "servers": [
               {"type": "udp", "tag": "d", "server": "9.9.9.9", "detour": "A"}, {"type": "udp", "tag": "bad", "server": 5},
               {"type": "https", "tag": "worse", "server": "9.9.9.10", "path": "/SECRET", "tls": {"enabled": true, "min_version": "9"}}],
               "rules": [{"domain": "a.example", "server": "d"}, {"domain": "b.example", "query_type": "FOO", "server": "d"},
                {"domain": "c.example", "server": "worse"}]},
             "inbounds": [{"type": "tun", "tag": "t", "route_exclude_address": ["10.0.0.0/99"]}],
             "outbounds": [{"type": "trojan", "tag": "A", "server": "node.example.net", "server_port": 443, "password": "pw",
              "tls": {"enabled": true}}, {"type": "direct", "tag": "direct"}],
             "route": {"rule_set": [{"type": "inline", "tag": "i", "rules": [{"port_range": ["5-x"]}]}],
              "rules": [{"domain": "one.example", "outbound": "A"}, {"port": "x", "outbound": "direct"},
               {"type": "logical", "mode": "or", "rules": [{"ip_cidr": ["z"]}, {"port": 9}], "outbound": "direct"},
               {"rule_set": "i", "outbound": "direct"}, {"domain": "two.example", "outbound": "direct"}]}}
            """#
        let outcome = try run(document)
        let rules = outcome.profile["route"]["rules"].listed.compactMap { $0["domain"].string }
        #expect(rules == ["one.example", "two.example"])
        let names = outcome.profile["dns"]["rules"].listed.filter { $0["server"].string != nil }
        #expect(names.compactMap { $0["domain"].string } == ["a.example"])
        #expect(outcome.profile["dns"]["client_subnet"] == "9.9.9.0/24")
        let told = Set(outcome.changes.filter { $0.reason.contains("the engine refuses") }.map(\.place))
        for place in [
            "dns.strategy", "dns.servers[2]", "dns.rules[1]", "route.rules[1]", "route.rules[2]",
            "route.rule_set[0]", "inbounds[0].route_exclude_address",
        ] { #expect(told.contains(place), "\(place)") }
        #expect(!outcome.report.text().contains("SECRET"))
    }

    @Test func aProvidersRulesTheEngineRefusesCostOnlyTheRules() throws {
        let document = #"""
            {"dns": {"servers": [{"type": "udp", "tag": "d", "server": "not an address"}], "rules": [{"domain": ["x.example"], "server": "d"}]},
             "outbounds": [{"type": "trojan", "tag": "A", "server": "node.example.net", "server_port": 443, "password": "pw",
              "tls": {"enabled": true}}]}
            """#
        let outcome = try run(document)
        #expect(outcome.lines.map(\.name) == ["A"])
    }

    @Test func reservedAndRepeatedTagsAreKeptApart() throws {
        let document = #"""
            {"outbounds": [{"type": "selector", "tag": "pick", "outbounds": ["proxy", "x"]},
             {"type": "trojan", "tag": "proxy", "server": "a.example.net", "server_port": 443, "password": "a", "tls": {"enabled": true}},
             {"type": "trojan", "tag": "x", "server": "b.example.net", "server_port": 443, "password": "b", "tls": {"enabled": true}, "detour": "proxy"},
             {"type": "trojan", "tag": "x", "server": "c.example.net", "server_port": 443, "password": "c", "tls": {"enabled": true}}],
             "route": {"rules": [{"domain": ["d.example"], "outbound": "proxy"}], "final": "pick"}}
            """#
        let outcome = try run(document)
        #expect(outcome.lines.map(\.tag) == ["proxy #2", "x", "x #2"])
        let objects = outcome.profile["outbounds"].listed
        #expect(objects.first { $0["tag"].string == "x" }?["detour"].string == "proxy #2")
        #expect(
            outcome.profile["route"]["rules"].listed.contains {
                $0["domain"].listed == ["d.example"] && $0["outbound"].string == "proxy #2"
            })
    }

    @Test func migrateOnlyKeepsEverythingElse() throws {
        let document = #"{"inbounds":[{"type":"mixed","listen_port":1}],"outbounds":[{"type":"block","tag":"b"}]}"#
        let migrated = try importer(store: nil).migrate(.content(Array(document.utf8)))
        #expect(migrated.document["inbounds"].listed.count == 1)
        #expect(migrated.changes.count == Set(migrated.changes).count)
        #expect(importError { _ = try importer(store: nil).migrate(.content(Array("proxies: []".utf8))) } != nil)
    }
}
