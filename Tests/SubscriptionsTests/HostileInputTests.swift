// Texts that are no subscription, are too much of one, or are one with random damage: an answer always, never a crash.

import ImportReport
import JSON
import Testing

@testable import Subscriptions

/// A small generator with a fixed seed (SplitMix64), so that a failure repeats.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

@Suite struct HostileInputTests {
    @Test(arguments: [
        ("", "empty"), ("\u{FEFF} \r\n", "empty"), ("<html></html>", "not-a-subscription"),
        ("hello", "not-a-subscription"),
        ("a: b", "not-a-subscription"), ("[1, 2]", "not-a-subscription"),
        ("{\"error\": \"token expired\"}", "provider-error"),
        ("{\"code\": 1, \"error\": {\"message\": \"m\"}}", "provider-error"), ("{}", "not-a-subscription"),
        ("{\"outbounds\": [", "bad-json"),
        ("proxies: [", "bad-yaml"), ("proxies:\n  - a\n b", "bad-yaml"), ("aGVsbG8gd29ybGQ=", "not-a-subscription"),
        ("PGh0bWw+PC9odG1sPg", "not-a-subscription"),
    ])
    func refusals(_ text: String, _ code: String) {
        let error = #expect(throws: SubscriptionError.self) {
            try SubscriptionReader.read(Array(text.utf8), capabilities: Fixture.plain)
        }
        #expect(error?.code.rawValue == code, "\(String(describing: error))")
    }

    @Test(arguments: [
        "proxies: []", "rules: [x]", "{\"outbounds\": []}", "{\"servers\": []}", "# x\nhttps://a.example/sub",
    ])
    func nothingToPick(_ text: String) throws {
        let found = try SubscriptionReader.read(Array(text.utf8), capabilities: Fixture.plain)
        let error = #expect(throws: SubscriptionError.self) { try found.requireLines() }
        #expect(error?.code == .noLines)
    }

    @Test func errorsHoldNoSecrets() {
        for text in ["proxies: [{password: hunter2, x", "{\"outbounds\": [{\"password\": \"hunter2\" x}]}"] {
            let error = #expect(throws: SubscriptionError.self) {
                try SubscriptionReader.read(Array(text.utf8), capabilities: Fixture.plain)
            }
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test func tooMuchIsRefused() {
        var bytes = [UInt8](repeating: 0x20, count: SubscriptionReader.maximumBytes + 1)
        bytes[0] = 0x61
        let large = #expect(throws: SubscriptionError.self) {
            try SubscriptionReader.read(bytes, capabilities: Fixture.plain)
        }
        #expect(large?.code == .tooLarge)
        let many = "proxies:\n" + String(repeating: "- {}\n", count: 50_001)
        let list = #expect(throws: SubscriptionError.self) {
            try SubscriptionReader.read(Array(many.utf8), capabilities: Fixture.plain)
        }
        #expect(list?.code == .tooLarge)
        let links = #expect(throws: SubscriptionError.self) {
            let text = String(repeating: "socks://h:1\n", count: 50_001)
            return try SubscriptionReader.read(Array(text.utf8), capabilities: Fixture.plain)
        }
        #expect(links?.code == .tooLarge)
        let deep = "proxies: " + String(repeating: "[", count: 100)
        #expect(throws: SubscriptionError.self) {
            try SubscriptionReader.read(Array(deep.utf8), capabilities: Fixture.plain)
        }
    }

    /// Long lines, many equal names and long chains cost no more than their length.
    @Test(.timeLimit(.minutes(5))) func sizeCostsOnlyItsLength() throws {
        let long = "trojan://" + String(repeating: "a%41@?#", count: 150_000)
        _ = try SubscriptionReader.read(Array(long.utf8), capabilities: Fixture.plain)
        let same = String(repeating: "socks://h:1#n\n", count: 5_000)
        #expect(
            try SubscriptionReader.read(Array(same.utf8), capabilities: Fixture.plain).lines.last?.tag == "n #5000")
        var chain = "proxies:\n"
        for index in 0..<3_000 {
            chain += "- {name: n\(index), type: socks5, server: h, port: 1, dialer-proxy: n\(index + 1)}\n"
        }
        let found = try SubscriptionReader.read(Array(chain.utf8), capabilities: Fixture.plain)
        #expect(found.dropped.count == 3_000)
    }

    @Test func randomDamageNeverCrashes() throws {
        var seeds: [[UInt8]] = []
        for name in Fixture.names(in: "clash") where !name.contains("expected") {
            seeds.append(try Fixture.bytes("clash/" + name))
        }
        for folder in Fixture.names(in: "reports") {
            for name in Fixture.names(in: "reports/" + folder) where name.hasPrefix("input") {
                seeds.append(try Fixture.bytes("reports/\(folder)/\(name)"))
            }
        }
        var random = Seeded(state: 20_261_130)
        let bytesThatMatter = Array("{}[]\"'%#?&@:/=,;-<>|*!~\\\n\t 09azAZ".utf8) + [0, 0xFF, 0xC3, 0xE2, 0x80, 0xF0]
        var readable = 0
        for _ in 0..<120 {
            var text = seeds[Int(random.next() % UInt64(seeds.count))]
            if text.count > 3_000 {
                let start = Int(random.next() % UInt64(text.count - 1_500))
                text = Array(text[start..<start + 1_500])
            }
            for _ in 0...(random.next() % 6) where !text.isEmpty {
                let at = Int(random.next() % UInt64(text.count))
                switch random.next() % 4 {
                case 0: text.remove(at: at)
                case 1: text.insert(bytesThatMatter[Int(random.next() % UInt64(bytesThatMatter.count))], at: at)
                case 2: text[at] = bytesThatMatter[Int(random.next() % UInt64(bytesThatMatter.count))]
                default: text.append(contentsOf: text[at...].prefix(40))
                }
            }
            let capabilities = random.next() % 2 == 0 ? Fixture.plain : Fixture.rich
            guard let found = try? SubscriptionReader.read(text, capabilities: capabilities) else { continue }
            readable += 1
            guard found.format != .singBox else { continue }
            // What comes out is sound whatever went in.
            let tags = (found.outbounds + found.endpoints).compactMap { $0["tag"].string }
            #expect(Set(tags).count == tags.count)
            #expect(found.lines.allSatisfy { tags.contains($0.tag) && !$0.identity.isEmpty && !$0.server.isEmpty })
            #expect(Set(found.lines.map(\.identity)).count == found.lines.count)
            let detours = (found.outbounds + found.endpoints).compactMap { $0["detour"].string }
            #expect(detours.allSatisfy(tags.contains))
        }
        #expect(readable > 10)
    }
}
