// The state directory keeps what it is given, replaces it whole, and refuses what it cannot trust.

import Glibc
import JSON
import Linux
import Messages
import Testing

@testable import Store

@Suite struct QuotaTests {
    /// Both are what a provider may say, and each is a number of its own right.
    @Test func anyTwoNumbersHaveASum() {
        #expect(Quota(upload: 8_900_000_000_000_000_000, download: 8_900_000_000_000_000_000).used == .max)
        #expect(Quota(upload: 1, download: 2).used == 3 && Quota().used == 0)
    }
}

/// A directory that is removed with its content when the test is over.
final class Scratch {
    let path: String

    init() throws {
        var template = Array("/tmp/trocket-test-XXXXXX".utf8CString)
        path = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
    }

    deinit {
        for folder in ["source", "rule-sets", "logs", "."] {
            if let inner = try? Directory("\(path)/\(folder)") {
                for name in (try? inner.names()) ?? [] where unlink("\(path)/\(folder)/\(name)") < 0 {
                    rmdir("\(path)/\(folder)/\(name)")
                }
            }
        }
        rmdir(path)
    }

    func mode(_ name: String) -> UInt32 {
        var status = stat()
        return lstat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    func write(_ name: String, _ text: String) throws {
        try Directory(path).replace(name, with: Array(text.utf8), mode: 0o600)
    }

    func text(_ name: String) throws -> String {
        String(decoding: try Directory(path).read(name, owner: nil, limit: 1 << 20) ?? [], as: UTF8.self)
    }
}

func record(_ names: [String], link: String? = "https://panel.example/link/TOKEN") -> SubscriptionRecord {
    SubscriptionRecord(
        link: link, agent: nil, title: "我的机场", format: "clash", fetchedAt: 1_700_000_000, intervalHours: 24,
        quota: Quota(upload: 1, download: 2, total: nil, expire: 1_798_761_600),
        lines: names.map {
            StoredLine(
                identity: "id-\($0)", tag: $0, name: $0, type: "trojan", server: "a.example", port: 443, multiplier: 1.5
            )
        }, sources: [StoredSource(file: "1", agent: "sing-box/1.14.2", provider: nil)],
        report: ["format": "clash", "lines": []], domesticAddressesAreDirect: true, engine: "1.14.2")
}

@Suite struct StateDirectoryTests {
    @Test func everythingComesBackAsItWas() throws {
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        #expect(try store.load() == State())
        try store.commit(record(["HK 🇭🇰", "JP"]), profile: Array("{}".utf8), bodies: [("1", [0xff, 0])]) { state in
            state.preferences.selection = Selection(identity: "id-JP", name: "JP")
            state.latencies["id-JP"] = Latency(milliseconds: 42, at: 7, via: "test", error: nil)
        }
        try store.update {
            $0.preferences.mode = "global"
            $0.preferences.killSwitch = true
        }
        let state = try StateDirectory(scratch.path).load()
        var expected = record(["HK 🇭🇰", "JP"])
        expected.profileCheck = state.subscription?.profileCheck ?? ""
        #expect(state.subscription == expected)
        #expect(state.preferences.selection == Selection(identity: "id-JP", name: "JP"))
        #expect(state.preferences.mode == "global")
        #expect(state.preferences.killSwitch == true)
        #expect(state.latencies["id-JP"]?.milliseconds == 42)
        #expect(try store.profile() == Array("{}".utf8))
        #expect(try store.body(expected.sources[0]) == [0xff, 0])
    }

    @Test func modesKeepSecretsFromOthersAndLetTheEngineRead() async {
        // In a process of its own: the file mask is all threads'.
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let store = try StateDirectory(scratch.path)
            chmod(scratch.path, 0o2750)
            umask(0o077)
            try store.commit(record(["A"]), profile: [1], bodies: [("1", [1])]) { _ in }
            try store.ruleSetFolder().replace("x.srs", with: [1], mode: 0o640)
            _ = try store.logFolder()
            #expect(scratch.mode("subscription.json") == 0o600)
            #expect(scratch.mode("profile.json") == 0o640)
            #expect(scratch.mode("source") & 0o777 == 0o700)
            #expect(scratch.mode("source/1") == 0o600)
            #expect(scratch.mode("rule-sets") == 0o2750)
            #expect(scratch.mode("rule-sets/x.srs") == 0o640)
            #expect(scratch.mode("logs") & 0o777 == 0o700)
        }
    }

    @Test func anImportReplacesBodiesAndForgetsLatenciesOfGoneLines() throws {
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        try store.commit(record(["A", "B"]), profile: [1], bodies: [("1", [1]), ("2", [2])]) { state in
            state.latencies["id-A"] = Latency(milliseconds: 1, at: 1, via: "t", error: nil)
            state.latencies["id-B"] = Latency(milliseconds: nil, at: 1, via: "t", error: "timeout")
        }
        try store.commit(record(["B"]), profile: [2], bodies: [("1", [3])]) { _ in }
        #expect(try store.load().latencies.keys.sorted() == ["id-B"])
        #expect(try Directory("\(scratch.path)/source").names() == ["2"])
        #expect(try store.profile() == [2])
        #expect(try store.body(store.load().subscription!.sources[0]) == [3])
    }

    /// Makes what a crash leaves: an import of B over one of A, ended before profile.json or before subscription.json.
    private func interrupted(afterProfile: Bool) throws -> (Scratch, StateDirectory) {
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        try store.commit(record(["A"]), profile: [1], bodies: [("1", [1])]) { _ in }
        let old = try scratch.text("subscription.json")
        try store.commit(record(["B"]), profile: [2], bodies: [("1", [2])]) { _ in }
        rename("\(scratch.path)/subscription.json", "\(scratch.path)/subscription.next.json")
        try scratch.write("subscription.json", old)
        try Directory("\(scratch.path)/source").replace("1", with: [1], mode: 0o600)
        if !afterProfile { try scratch.write("profile.json", "\u{1}") }
        return (scratch, store)
    }

    @Test func anImportInterruptedAfterItsProfileIsFinished() throws {
        let (scratch, store) = try interrupted(afterProfile: true)
        let found = try #require(try store.load().subscription)
        #expect(found.lines.map(\.tag) == ["B"])
        #expect(try store.profile() == [2])
        #expect(try store.body(found.sources[0]) == [2])
        #expect(try Directory(scratch.path).names() == [".lock", "profile.json", "source", "subscription.json"])
        #expect(try Directory("\(scratch.path)/source").names() == ["2"])
    }

    @Test func anImportInterruptedBeforeItsProfileNeverWas() throws {
        let (scratch, store) = try interrupted(afterProfile: false)
        // A change is a verb like any other: the remains go first, and never come back over it.
        try store.update { $0.preferences.mode = "global" }
        let found = try #require(try store.load().subscription)
        #expect(found.lines.map(\.tag) == ["A"])
        #expect(try store.load().preferences.mode == "global")
        #expect(try store.profile() == [1])
        #expect(try store.body(found.sources[0]) == [1])
        #expect(try !Directory(scratch.path).names().contains("subscription.next.json"))
    }

    @Test(arguments: ["", "{", "{\"version\": 1}"])
    func aHalfWrittenNextRecordIsThrownAway(_ text: String) throws {
        let (scratch, store) = try interrupted(afterProfile: false)
        try scratch.write("subscription.next.json", text)
        #expect(try store.load().subscription?.lines.map(\.tag) == ["A"])
        #expect(try !Directory(scratch.path).names().contains("subscription.next.json"))
    }

    @Test func damagedFilesAreNamedAndLeftAlone() throws {
        for damage in [
            "{\"version\":1", "[]", "{\"version\":2}", "{\"version\":1,\"subscription\":{\"link\":\"https://TOKEN\"}}",
        ] {
            let scratch = try Scratch()
            try scratch.write("subscription.json", damage)
            let store = try StateDirectory(scratch.path)
            let error = #expect(throws: StoreError.self) { try store.load() }
            #expect(error?.code == .corrupt)
            #expect(error?.message.english.contains("\(scratch.path)/subscription.json") == true)
            #expect(error?.message.english.contains("TOKEN") == false)
            #expect(throws: StoreError.self) { try store.update { $0.preferences.mode = "rule" } }
            #expect(throws: StoreError.self) { try store.commit(record(["A"]), profile: [1], bodies: []) { _ in } }
            #expect(try scratch.text("subscription.json") == damage)
            #expect(try store.forget() == ["subscription.json"])
            #expect(try store.load() == State())
        }
    }

    @Test func forgetTakesTheProofAndNamesOnlyWhatWasThere() throws {
        let scratch = try Scratch()
        try scratch.write("proof.json", "{}")
        let store = try StateDirectory(scratch.path)
        _ = try store.logFolder()
        #expect(try store.forget() == ["proof.json"])
        #expect(try store.forget() == [])
    }

    @Test func linksAreNeitherReadNorWrittenThrough() throws {
        let scratch = try Scratch()
        let target = try Scratch()
        try target.write("victim", "precious")
        symlink("\(target.path)/victim", "\(scratch.path)/subscription.json")
        let store = try StateDirectory(scratch.path)
        #expect(throws: StoreError.self) { try store.load() }
        #expect(throws: StoreError.self) { try store.commit(record(["A"]), profile: [1], bodies: []) { _ in } }
        #expect(try target.text("victim") == "precious")
        symlink(target.path, "\(scratch.path)/rule-sets")
        #expect(throws: StoreError.self) { _ = try store.ruleSetFolder() }
        _ = try store.forget()
        #expect(try target.text("victim") == "precious")
    }

    @Test func missingAndUnwritableDirectoriesAreSaid() throws {
        let scratch = try Scratch()
        #expect(throws: StoreError.self) { _ = try StateDirectory("\(scratch.path)/none/there") }
        do { _ = try StateDirectory("\(scratch.path)/none") } catch { #expect(error.code == .missing) }
        try scratch.write("file", "")
        do { _ = try StateDirectory("\(scratch.path)/file") } catch { #expect(error.code == .unusable) }
        symlink(scratch.path, "\(scratch.path)/link")
        do { _ = try StateDirectory("\(scratch.path)/link") } catch { #expect(error.code == .unusable) }
        _ = try StateDirectory("\(scratch.path)/made", makingIt: true)
        #expect(scratch.mode("made") == 0o700)
    }

    @Test func theProfileOfAnInterruptedImportIsNoticed() throws {
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        do { _ = try store.profile() } catch { #expect(error.code == .noSubscription) }
        try store.commit(record(["A"]), profile: [1], bodies: []) { _ in }
        try scratch.write("profile.json", "{}")
        do {
            _ = try store.profile()
            Issue.record("a foreign profile was accepted")
        } catch { #expect(error.code == .torn) }
    }

    @Test func aFailedReplacementLeavesTheOldImport() throws {
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        try store.commit(record(["A"]), profile: [1], bodies: []) { _ in }
        // A directory in the place of a body: the replacement fails before profile and record are touched.
        mkdir("\(scratch.path)/source/2", 0o700)
        #expect(throws: StoreError.self) {
            try store.commit(record(["B"]), profile: [2], bodies: [("2", [2])]) { _ in }
        }
        #expect(try store.load().subscription?.lines.map(\.tag) == ["A"])
        #expect(try store.profile() == [1])
    }

    @Test func forgetRemovesAllOfIt() throws {
        let scratch = try Scratch()
        let store = try StateDirectory(scratch.path)
        try store.commit(record(["A"]), profile: [1], bodies: [("1", [1])]) { _ in }
        try store.ruleSetFolder().replace("x.srs", with: [1], mode: 0o640)
        try store.logFolder().replace("controller.log", with: [1], mode: 0o600)
        try scratch.write(".profile.json.abc", "torn")
        _ = try store.forget()
        #expect(try Directory(scratch.path).names() == [".lock"])
    }
}
