// Every case of the Clash corpus gives exactly the expected lists, for an engine without and with uTLS.

import ImportReport
import JSON
import Testing

@testable import Subscriptions

@Suite struct ClashCorpusTests {
    static let cases: [String] = Fixture.names(in: "clash").filter { $0.hasSuffix(".expected.json") }.map {
        String($0.dropLast(".expected.json".count))
    }

    @Test func corpusIsThere() { #expect(Self.cases.count >= 25) }

    @Test(arguments: cases)
    func plainEngine(_ name: String) throws { try compare(name, "clash/\(name).expected.json", Fixture.plain) }

    /// Cases without a second expectation give the same with a richer engine.
    @Test(arguments: cases)
    func richEngine(_ name: String) throws {
        let own = "\(name).expected.utls.json"
        let expected = Fixture.names(in: "clash").contains(own) ? own : "\(name).expected.json"
        try compare(name, "clash/\(expected)", Fixture.rich)
    }

    private func compare(_ name: String, _ expectation: String, _ capabilities: EngineCapabilities) throws {
        let input = try #require(
            ["yaml", "txt", "json"].map { "\(name).\($0)" }.first { Fixture.names(in: "clash").contains($0) })
        let actual = try SubscriptionReader.read(Fixture.bytes("clash/" + input), capabilities: capabilities).lists
        let expected = try Fixture.json(expectation)
        for key in ["outbounds", "endpoints", "lines", "info", "dropped", "notices"] {
            let (found, wanted) = (normal(actual[key].array ?? []), normal(expected[key].array ?? []))
            for (left, right) in zip(found, wanted) {
                #expect(left == right, "\(name) \(key): \(left.text()) is not \(right.text())")
            }
            #expect(found.count == wanted.count, "\(name) \(key): \(actual[key].text())")
        }
    }

    /// `2.0` and `2` are one multiplier.
    private func normal(_ items: [JSON]) -> [JSON] {
        items.map { item in
            guard let multiplier = item["multiplier"].double else { return item }
            var item = item
            item["multiplier"] = .double(multiplier)
            return item
        }
    }

    @Test func multipliers() throws {
        let table = try String(decoding: Fixture.bytes("clash/multipliers.tsv"), as: UTF8.self)
        let rows = table.split(separator: "\n").dropFirst().map { $0.split(separator: "\t") }
        #expect(rows.count > 30)
        for row in rows {
            let name = String(row[0])
            #expect(Multiplier.of(name) == Double(row[1]), "\(name): \(String(describing: Multiplier.of(name)))")
        }
    }
}
