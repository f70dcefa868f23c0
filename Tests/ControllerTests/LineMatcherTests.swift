// What a user types against names with emoji, `|`, spaces and CJK.

import JSON
import Messages
import Store
import Testing

@testable import Controller

private func line(_ name: String) -> StoredLine {
    StoredLine(
        identity: "id " + name, tag: name, name: name, type: "trojan", server: "a.test", port: 443, multiplier: nil)
}

private let lines = ["🇭🇰 香港 01 x1.5", "🇭🇰 香港 02", "🇸🇬 新加坡 | 倍率:2", "US LA", "us la 4K", "JP 5"].map(line)

@Suite struct LineMatcherTests {
    private let matcher = LineMatcher(lines)

    @Test(arguments: [
        ("🇭🇰 香港 02", 2), ("新加坡", 3), ("| 倍率", 3), ("x1.5", 1), ("US LA", 4), ("4k", 5), ("jp", 6), ("5", 5), ("6", 6),
        ("#5", 5), ("3", 3),
        // A number of the list wins over a part of a name; with a leading zero it is none.
        ("4", 4), ("2", 2), ("02", 2),
    ])
    func finds(typed: String, number: Int) throws {
        #expect(try matcher.find(typed) == .line(lines[number - 1], number: number))
    }

    @Test func knowsAuto() throws { #expect(try matcher.find("Auto") == .automatic) }

    @Test(arguments: [
        ("香港", [1, 2]), ("us", [4, 5]),
    ])
    func namesTheCandidates(typed: String, numbers: [Int]) {
        #expect {
            try matcher.find(typed)
        } throws: { error in
            guard let failure = error as? Failure else { return false }
            let candidates = failure.json(.english)["error"]["candidates"].listed.compactMap { $0["number"].int }
            return failure.code == "line-ambiguous" && failure.exit == .badInput && candidates == numbers
        }
    }

    @Test func namesTheNearestLines() {
        #expect {
            try LineMatcher(["Osaka 01", "Tokio 02", "Paris"].map(line)).find("tokyo")
        } throws: { error in
            guard let failure = error as? Failure else { return false }
            let nearest = failure.json(.english)["error"]["candidates"].listed.first
            return nearest?["name"] == "Tokio 02" && failure.remedy.english.contains("\n    #2 Tokio 02")
        }
    }

    @Test(arguments: ["", "Paris", "#99", "99", "#"])
    func refusesWhatIsNotThere(typed: String) {
        #expect { try matcher.find(typed) } throws: { ($0 as? Failure)?.code == "line-unknown" }
    }
}
