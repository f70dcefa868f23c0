// The verbs about the subscription as a user runs them: what they print, how they end, what they leave alone.

import CommandLine
import EngineControl
import Glibc
import JSON
import Linux
import Messages
import Testing

@testable import Controller

private let hasEngine = (try? EngineBinary.find()) != nil

/// A state directory and a place for input files, removed when the test is over.
private final class Place {
    let path: String
    var state: String { "\(path)/state" }

    init() throws {
        var template = Array("/tmp/trocket-test-XXXXXX".utf8CString)
        path = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        chmod(path, 0o700)
        if let directory = try? Directory(path) {
            for name in (try? directory.names()) ?? [] { remove("\(path)/\(name)") }
            rmdir(path)
        } else {
            unlink(path)
        }
    }

    func file(_ name: String, _ text: String) throws -> String {
        try UserFile.write("\(path)/\(name)", Array(text.utf8))
        return "\(path)/\(name)"
    }
}

private let clash = """
    proxies:
      - {name: "🇭🇰 香港 | 01 x2", type: trojan, server: node.example.net, port: 443, password: S3CRET}
      - {name: 日本 0.5倍, type: ss, server: node.example.net, port: 8388, cipher: aes-128-gcm, password: S3CRET}
      - {name: 旧线路, type: ssr, server: node.example.net, port: 1, password: S3CRET}
      - {name: 剩余流量：12 GB, type: ss, server: node.example.net, port: 8388, cipher: aes-128-gcm, password: S3CRET}
    """

@Suite struct ImportVerbTests {
    private func error(_ output: String) throws -> JSON { try JSON.parse(output)["error"] }

    @Test func withoutASubscriptionEveryVerbSaysSo() throws {
        let place = try Place()
        mkdir(place.state, 0o700)
        for verb in ["lines", "update", "profile", "rule-sets"] {
            let found = run(verb, "--json", "--state-dir", place.state)
            #expect(found.status == .broken)
            #expect(try error(found.output)["code"] == "no-subscription", "\(verb)")
        }
        #expect(run("forget", "--state-dir", place.state).status == .done)
    }

    @Test func aStateDirectoryThatCannotBeUsedEnds78() throws {
        let place = try Place()
        let missing = run("lines", "--json", "--state-dir", "\(place.path)/none")
        #expect(missing.status == .broken)
        #expect(try error(missing.output)["code"] == "state-missing")
        mkdir(place.state, 0o700)
        let damaged = "{\"version\": 1, \"subscr"
        _ = try place.file("state/subscription.json", damaged)
        let source = try place.file("sub.yaml", clash)
        for words in [["lines"], ["import", source], ["update"], ["profile"]] {
            let found = run(words[0], words.count > 1 ? words[1] : "--json", "--json", "--state-dir", place.state)
            #expect(found.status == .broken)
            let error = try error(found.output)
            #expect(error["code"] == "state-corrupt")
            #expect(error["message"].string?.contains("\(place.state)/subscription.json") == true)
            #expect(error["remedy"].string?.isEmpty == false)
        }
        let kept = try UserFile.read("\(place.state)/subscription.json", limit: 100)
        #expect(kept == Array(damaged.utf8))
    }

    @Test func sourcesThatCannotBeReadEnd65() throws {
        let place = try Place()
        for source in ["\(place.path)/none.yaml", "https://", "clash://install-config?url=ftp%3A%2F%2Fx"] {
            let found = run("import", source, "--json", "--state-dir", place.state)
            #expect(found.status == .badInput)
            #expect(try error(found.output)["code"] == "bad-source", "\(source)")
        }
    }

    @Test func anUnreachableLinkEnds75AndIsNotShown() throws {
        guard hasEngine else { return }
        let place = try Place()
        let found = run("import", "http://127.0.0.1:1/T0KEN", "--state-dir", place.state)
        #expect(found.status == .temporary)
        #expect(found.errors.contains("127.0.0.1/…"))
        #expect(!found.errors.contains("T0KEN"))
    }

    @Test func aMissingEngineEnds69() throws {
        let place = try Place()
        let source = try place.file("sub.yaml", clash)
        var written = ""
        let output = Output(
            language: .english, json: true, quiet: false, isWatched: false, columns: 80, writeOutput: { written += $0 },
            writeError: { _ in })
        let context = Context(
            output: output, variable: { $0 == "TROCKET_ENGINE" ? "/nonexistent/sing-box" : withoutWorker($0) },
            stateDirectory: place.state)
        let command = try Program.table.parse(["import", source])
        do {
            _ = try Verb.importSubscription.run(context, command)
            Issue.record("imported without an engine")
        } catch { #expect(Failure(describing: error).exit == .unavailable) }
        #expect(written.isEmpty)
    }

    @Test(.enabled(if: hasEngine, "no engine: set TROCKET_ENGINE to a sing-box 1.14 or newer"))
    func importListProfileForget() throws {
        let place = try Place()
        let source = try place.file("sub.yaml", clash)
        let trial = run("import", source, "--dry-run", "--state-dir", place.state)
        #expect(trial.status == .done)
        #expect(run("lines", "--state-dir", place.state).status == .broken)

        let report = try JSON.parse(run("import", source, "--json", "--state-dir", place.state).output)
        for key in [
            "format", "agents", "lines", "notes", "dropped", "notices", "changes", "ruleSets", "quota", "selection",
            "startsOffline",
        ] { #expect(report.object?.keys.contains(key) == true, "\(key)") }
        #expect(report["format"] == "clash")
        #expect(report["notes"] == ["剩余流量：12 GB"])
        #expect(report["startsOffline"] == true)

        let lines = try JSON.parse(run("lines", "--json", "--all", "--state-dir", place.state).output).listed
        #expect(lines.map { $0["number"].int } == [1, 2, nil])
        #expect(lines.map { $0["multiplier"].double } == [2, 0.5, nil])
        #expect(lines.map { $0["usable"].bool } == [true, true, false])
        #expect(lines[2]["reason"] == "unsupported_type")
        let sorted = try JSON.parse(run("lines", "--json", "--sort", "multiplier", "--state-dir", place.state).output)
        #expect(sorted.listed.map { $0["number"].int } == [2, 1])
        for language in Language.allCases {
            let page = run("lines", "--all", "--state-dir", place.state, language: language)
            #expect(page.output.contains("🇭🇰 香港 | 01 x2") && page.output.contains("旧线路"))
        }

        let profile = run("profile", "--state-dir", place.state)
        #expect(profile.output.contains("S3CRET"))
        let redacted = run("profile", "--redact", "--state-dir", place.state)
        #expect(redacted.status == .done)
        for secret in ["S3CRET", "node.example.net", "香港"] { #expect(!redacted.output.contains(secret)) }

        // A profile that is not the subscription's, or gone, is made anew from the text kept.
        _ = try place.file("state/profile.json", "{}")
        #expect(run("profile", "--state-dir", place.state).output == profile.output)
        unlink("\(place.state)/profile.json")
        #expect(run("profile", "--state-dir", place.state).output == profile.output)
        #expect(Surroundings.exists("\(place.state)/profile.json"))

        let again = run("update", "--state-dir", place.state)
        #expect(again.status == .done)
        let bad = run("import", try place.file("bad", "<html><title>x</title></html>"), "--state-dir", place.state)
        #expect(bad.status == .badInput)
        #expect(run("profile", "--state-dir", place.state).output == profile.output)

        #expect(run("rule-sets", "--json", "--state-dir", place.state).status == .done)
        #expect(run("forget", "--json", "--state-dir", place.state).status == .done)
        #expect(run("lines", "--state-dir", place.state).status == .broken)
    }

    @Test(.enabled(if: hasEngine, "no engine: set TROCKET_ENGINE to a sing-box 1.14 or newer"))
    func convertPrintsAProfileAndTouchesNothing() throws {
        let place = try Place()
        let source = try place.file("sub.yaml", clash)
        let report = "\(place.path)/report.json"
        let found = run("convert", source, "--report", report, "--state-dir", place.state)
        #expect(found.status == .done)
        let profile = try JSON.parse(found.output)
        #expect(profile["outbounds"].listed.first?["tag"] == "proxy")
        let written = try JSON.parse(UserFile.read(report, limit: 1 << 20))
        #expect(written["lines"].listed.count == 2)
        #expect(!written.text().contains("S3CRET"))
        #expect(!Surroundings.exists(place.state))
        let old = try place.file(
            "old.json", #"{"inbounds": [], "outbounds": [{"type": "dns", "tag": "d"}], "route": {}}"#)
        let migrated = run("convert", old, "--migrate-only", "--state-dir", place.state)
        #expect(migrated.status == .done)
        #expect(try JSON.parse(migrated.output).object?.keys.contains("inbounds") == true)
    }
}
