// What an import leaves on disk: the old subscription until all is well, the selection by identity, no secret in the open.

import EngineControl
import JSON
import Linux
import Profiles
import RuleSets
import Store
import Subscriptions
import Testing

@testable import Importing

private func link(_ name: String, _ password: String) -> String {
    "trojan://\(password)@node.example.net:443?sni=sni.example.net#\(name)\n"
}

@Suite(.enabled(if: engine != nil, noEngine))
struct StoredImportTests {
    @discardableResult
    private func importInto(
        _ scratch: Scratch, _ source: ImportSource, link: String? = nil, bundled: String = "/nonexistent"
    ) throws -> ImportOutcome {
        let store = try StateDirectory(scratch.path)
        let importer = try importer(store: store, bundled: bundled)
        let outcome = try importer.run(source, selection: store.load().preferences.selection)
        try importer.commit(outcome, link: link, agent: nil, to: store)
        return outcome
    }

    private func content(_ text: String) -> ImportSource { .content(Array(text.utf8)) }

    @Test func theSelectionSurvivesARenameAndIsSaidWhenGone() throws {
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        try importInto(scratch, content(link("US-568.9G", "one") + link("JP", "two")))
        let chosen = try #require(try store.load().subscription?.lines[0])
        try store.update { $0.preferences.selection = Selection(identity: chosen.identity, name: chosen.name) }
        let renamed = try importInto(scratch, content(link("JP", "two") + link("US-560.1G", "one")))
        #expect(renamed.selection == SelectionResult(line: "US-560.1G", kept: true))
        #expect(try store.load().preferences.selection == Selection(identity: chosen.identity, name: "US-560.1G"))
        let gone = try importInto(scratch, content(link("JP", "two") + link("US-560.1G", "other password")))
        #expect(gone.selection == SelectionResult(line: "auto", kept: false))
        #expect(gone.warnings == [.selectionLost(name: "US-560.1G")])
        #expect(try store.load().preferences.selection == nil)
    }

    @Test func aFailedImportLeavesEveryFileAsItWas() throws {
        let scratch = try Scratch()
        try importInto(scratch, content(link("A", "one")), link: "https://panel.example/TOKEN")
        let before = scratch.files().map { "\($0): \(scratch.text($0))" }
        for bad in ["", "<html>", "{\"message\":\"no\"}", "ssr://x", "proxies: [", "{\"outbounds\": [}"] {
            #expect(throws: (any Error).self, "\(bad)") { try importInto(scratch, content(bad)) }
            #expect(
                scratch.files().filter { $0 != "rule-sets/index.json" }.map { "\($0): \(scratch.text($0))" }
                    == before.filter { !$0.hasPrefix("rule-sets/index.json") })
        }
    }

    @Test func secretsStandOnlyWhereTheyMust() throws {
        let scratch = try Scratch()
        let outcome = try importInto(scratch, content(link("A", "S3CRET")), link: "https://panel.example/T0KEN")
        let holding = scratch.files().filter { scratch.text($0).contains("S3CRET") }
        #expect(holding == ["profile.json", "source/1"])
        #expect(scratch.files().filter { scratch.text($0).contains("T0KEN") } == ["subscription.json"])
        #expect(!outcome.report.text().contains("S3CRET"))
        #expect(try #require(try StateDirectory(scratch.path).load().subscription).report == outcome.report)
    }

    @Test func aStoredSubscriptionIsMadeAnewWithoutAFetch() throws {
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        try importInto(scratch, content(link("A", "one")))
        let record = try #require(try store.load().subscription)
        let again = try importer(store: store, fetch: { _ in [] }).remake(record, from: store, selection: nil)
        #expect(again.lines.map(\.identity) == record.lines.map(\.identity))
        scratch.delete("source/1")
        #expect(
            importError { _ = try importer(store: store).remake(record, from: store, selection: nil) }?.code
                == .badSource)
    }

    @Test func ruleSetsAreKeptReplacedMissedAndBroughtBack() throws {
        let provider = try Provider()
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        let engine = try #require(engine)
        func set(_ domain: String) throws -> [UInt8] {
            try engine.run(
                ["rule-set", "compile", "/dev/fd/3", "--output", "/dev/stdout"],
                input: Array(#"{"version":3,"rules":[{"domain_suffix":["\#(domain)"]}]}"#.utf8))
        }
        let document = """
            {"outbounds": [{"type": "trojan", "tag": "A", "server": "node.example.net", "server_port": 443, "password": "pw",
              "tls": {"enabled": true}}],
             "route": {"rules": [{"rule_set": ["ads"], "action": "reject"}, {"rule_set": "late", "outbound": "A"}],
              "rule_set": [
               {"type": "remote", "tag": "ads", "format": "binary", "url": "\(provider.url("/ads.srs?token=SECRET"))"},
               {"type": "remote", "tag": "late", "format": "binary", "url": "\(provider.url("/late.srs"))"},
               {"type": "remote", "tag": "unused", "format": "binary", "url": "\(provider.url("/unused.srs"))"}]}}
            """
        try provider.files.write("ads.srs", try set("ads.example"))
        let first = try importInto(scratch, content(document))
        func status(_ tag: String, _ outcome: ImportOutcome) -> String? {
            outcome.ruleSets.first { $0.tag == tag }?.status.rawValue
        }
        #expect(status("ads", first) == "cached")
        #expect(status("late", first) == "removed")
        #expect(!provider.requests.contains { $0.hasPrefix("/unused") })
        #expect(!first.report.text().contains("SECRET"))
        #expect(first.startsOffline)
        let sets = first.profile["route"]["rule_set"].listed
        #expect(sets.map { $0["type"].string } == ["local"])
        let path = try #require(sets[0]["path"].string)
        #expect(path.hasPrefix("/") && scratch.files().contains { path.hasSuffix($0) })
        #expect(!first.profile["route"]["rules"].listed.contains { $0["outbound"].string == "A" })

        // The download fails: the copy stays. The other one has come: its rule is back.
        provider.files.delete("ads.srs")
        try provider.files.write("late.srs", try set("late.example"))
        let record = try #require(try store.load().subscription)
        let importer = try importer(store: store)
        let second = try importer.remake(record, from: store, selection: nil)
        #expect(status("ads", second) == "cached")
        #expect(second.ruleSets.first { $0.tag == "ads" }?.reason?.contains("the copy of 2027-01-15 is used") == true)
        #expect(status("late", second) == "cached")
        #expect(second.profile["route"]["rules"].listed.contains { $0["outbound"].string == "A" })
        try importer.commit(second, link: nil, agent: nil, to: store)

        // A new content gets a new name; what neither profile nor the one before names is removed.
        try provider.files.write("ads.srs", try set("other.example"))
        let third = try importInto(scratch, content(document))
        #expect(third.ruleSets.first { $0.tag == "ads" }?.sha256 != first.ruleSets.first { $0.tag == "ads" }?.sha256)
        #expect(scratch.files(below: "rule-sets").count == 4)
        try importInto(scratch, content(link("A", "one")))
        try importInto(scratch, content(link("A", "one")))
        #expect(scratch.files(below: "rule-sets") == ["rule-sets/index.json"])
    }

    @Test func theBundledSetsStandInAndAreReported() throws {
        let bundled = try Scratch()
        let engine = try #require(engine)
        for tag in ["geosite-cn", "geoip-cn"] {
            try bundled.write(
                "\(tag).srs",
                try engine.run(
                    ["rule-set", "compile", "/dev/fd/3", "--output", "/dev/stdout"],
                    input: Array(#"{"version":3,"rules":[{"domain_suffix":["cn"]}]}"#.utf8)))
        }
        let scratch = try Scratch()
        let outcome = try importInto(scratch, content(link("A", "one")), bundled: bundled.path)
        #expect(outcome.ruleSets.map(\.tag) == ["geosite-cn", "geoip-cn"])
        #expect(outcome.ruleSets.map(\.status) == [.bundled, .bundled])
        #expect(outcome.profile["route"]["rule_set"].listed.count == 2)
    }
}
