// Reading the list of domestic prefixes, strictly, and turning it into intervals.

import Addressing
import NetworkPlan
import Testing

@Suite struct DomesticListTests {
    private func parse(_ text: String) throws(DomesticListError) -> [String] {
        try DomesticList.parse(Array(text.utf8)).map(\.description)
    }

    @Test func aListIsSortedAndMinimal() throws {
        #expect(
            try parse("2001:250::/35\n1.0.2.0/24\n1.0.2.0/23\n1.0.1.0/24\n") == [
                "1.0.1.0/24", "1.0.2.0/23", "2001:250::/35",
            ])
        #expect(try parse("1.0.1.0/24") == ["1.0.1.0/24"])
    }

    @Test(arguments: [
        "0.0.0.0/0", "128.0.0.0/1", "2000::/3", "1.0.1.1/24", "1.0.1.0/33", "1.0.1.0/24 ", " 1.0.1.0/24", "# CN", "",
        "1.0.1.0/24\r", "1.0.1.0/24; flush ruleset", String(repeating: "1", count: 65), "::ffff:1.0.1.0/200",
    ])
    func oneBadLineSpoilsAllOfIt(line: String) {
        #expect(throws: DomesticListError.badLine(2)) { try parse("1.0.0.0/24\n\(line)\n1.0.2.0/24\n") }
    }

    @Test func boundsHold() {
        #expect(throws: DomesticListError.empty) { try parse("") }
        #expect(throws: DomesticListError.tooLarge) {
            try DomesticList.parse(Array(repeating: 49, count: DomesticList.sizeLimit + 1))
        }
        let many = (0...DomesticList.countLimit).map { "1.\($0 >> 8).\($0 & 255).0/24\n" }.joined()
        #expect(throws: DomesticListError.tooMany) { try parse(many) }
    }

    @Test func neighboursBecomeOneInterval() {
        func text(_ intervals: [AddressInterval]) -> [String] {
            intervals.map { "\($0.first) - \($0.end.map(\.description) ?? "end")" }
        }
        #expect(
            text(AddressInterval.covering(Example.prefixes("1.0.1.0/24", "1.0.2.0/23", "1.0.8.0/21", "255.0.0.0/8")))
                == ["1.0.1.0 - 1.0.4.0", "1.0.8.0 - 1.0.16.0", "255.0.0.0 - end"])
        #expect(
            text(
                AddressInterval.covering(
                    Example.prefixes(
                        "2001:250::/35", "2001:250:2000::/35", "2400::/64", "2400:0:0:1::/127", "ff00::/8")))
                == [
                    "2001:250:: - 2001:250:4000::", "2400:: - 2400:0:0:1::2", "ff00:: - end",
                ])
        #expect(
            text(AddressInterval.covering(Example.prefixes("2400::ffff:ffff:ffff:ffff/128"))) == [
                "2400::ffff:ffff:ffff:ffff - 2400:0:0:1::"
            ])
    }
}
