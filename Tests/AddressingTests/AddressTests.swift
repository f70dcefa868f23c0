// Addresses and prefixes: what is read, what is refused, how it is written.

import Addressing
import Testing

@Suite struct AddressTests {
    @Test(arguments: ["0.0.0.0", "10.0.0.1", "255.255.255.255", "198.19.77.2"])
    func ipv4IsWrittenAsRead(_ text: String) throws {
        let address = try #require(IPv4Address(text))
        #expect(address.description == text)
        #expect(IPv4Address(bytes: address.bytes) == address)
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "+1.2.3.4", "1..2.3", "0x1.2.3.4"])
    func ipv4RefusesOtherSpellings(_ text: String) { #expect(IPv4Address(text) == nil) }

    /// RFC 5952 section 4 and its examples; RFC 4291 section 2.2.
    @Test(arguments: [
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:0DB8::0001", "2001:db8::1"), ("::", "::"),
        ("0:0:0:0:0:0:0:0", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:db8::0:1:0", "2001:db8::1:0"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ("::FFFF:c000:0201", "::ffff:192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("fe80:0:0:0:a:0:0:b", "fe80::a:0:0:b"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ])
    func ipv6IsWrittenInOneForm(_ text: String, _ canonical: String) throws {
        let address = try #require(IPv6Address(text))
        #expect(address.description == canonical)
        #expect(IPv6Address(canonical) == address)
        #expect(IPv6Address(bytes: address.bytes) == address)
    }

    @Test(arguments: [
        "", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "::1.2.3", "1.2.3.4::",
        "fe80::1%eth0", "1:2:3:4:5:6:7:8::", "::1:", ":1::", "1:2:3:4:5:6:7:1.2.3.4", "[::1]",
    ])
    func ipv6RefusesNonsense(_ text: String) { #expect(IPv6Address(text) == nil) }

    @Test func familiesSortAndDiffer() throws {
        let four = try #require(IPAddress("1.2.3.4"))
        let six = try #require(IPAddress("::1"))
        #expect(four < six)
        #expect(four.family == .ipv4 && six.family == .ipv6)
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
    }
}

@Suite struct PrefixTests {
    private func prefix(_ text: String) throws -> Prefix { try #require(Prefix(text)) }

    @Test(arguments: ["10.0.0.0/8", "0.0.0.0/0", "::/0", "2000::/3", "fd74:726f:636b:6574::/126", "1.2.3.4/32"])
    func isWrittenAsRead(_ text: String) throws { #expect(try prefix(text).description == text) }

    @Test(arguments: ["10.0.0.1/8", "10.0.0.0/33", "::1/64", "::/129", "10.0.0.0/", "10.0.0.0/08", "/8", "10/8"])
    func refusesHostBitsAndNonsense(_ text: String) { #expect(Prefix(text) == nil) }

    @Test func aSingleAddressLosesItsLength() throws {
        #expect(try prefix("255.255.255.255").shortDescription == "255.255.255.255")
        #expect(try prefix("::1").description == "::1/128")
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.1.0.0/16", true, true), ("10.1.0.0/16", "10.0.0.0/8", false, true),
        ("10.0.0.0/9", "10.128.0.0/9", false, false), ("0.0.0.0/0", "203.0.113.0/24", true, true),
        ("::/0", "10.0.0.0/8", false, false), ("fe80::/10", "febf::/16", true, true),
        ("fe80::/10", "fec0::/10", false, false),
        ("2001:db8::/65", "2001:db8:0:0:8000::/65", false, false), ("2001:db8::/64", "2001:db8::/64", true, true),
    ])
    func containsAndOverlaps(_ left: String, _ right: String, _ contains: Bool, _ overlaps: Bool) throws {
        #expect(try prefix(left).contains(try prefix(right)) == contains)
        #expect(try prefix(left).overlaps(try prefix(right)) == overlaps)
        #expect(try prefix(right).overlaps(try prefix(left)) == overlaps)
    }

    @Test func minimalDropsWhatLiesInside() throws {
        let given = try ["10.1.0.0/16", "2001:db8::/32", "10.0.0.0/8", "11.0.0.0/8", "10.0.0.0/8", "2001:db8:7::/48"]
            .map(prefix)
        #expect(Prefix.minimal(given).map(\.description) == ["10.0.0.0/8", "11.0.0.0/8", "2001:db8::/32"])
    }

    @Test func interfaceAddressKeepsItsHostBits() throws {
        let address = try #require(InterfaceAddress("198.19.77.1/30"))
        #expect(address.description == "198.19.77.1/30")
        #expect(address.prefix.description == "198.19.77.0/30")
        #expect(InterfaceAddress("198.19.77.1") == nil)
        #expect(InterfaceAddress("198.19.77.1/40") == nil)
    }
}

@Suite struct NameTests {
    @Test(arguments: ["lo", "trocket0", "eth0.100", "a-b_c", "fifteen-bytes-x"])
    func goodNames(_ text: String) { #expect(InterfaceName(text)?.description == text) }

    @Test(arguments: ["", ".", "..", "a/b", "a b", "sixteen-bytes-xx", "a:b", "tab\t", "q\"", "ü"])
    func badNames(_ text: String) { #expect(InterfaceName(text) == nil) }

    @Test func hardwareAddresses() {
        #expect(MACAddress("02:74:72:6f:63:01")?.bytes == [2, 0x74, 0x72, 0x6f, 0x63, 1])
        #expect(MACAddress("02:74:72:6F:63:01")?.description == "02:74:72:6f:63:01")
        for wrong in ["", "02:74:72:6f:63", "02:74:72:6f:63:01:02", "2:74:72:6f:63:01", "zz:74:72:6f:63:01"] {
            #expect(MACAddress(wrong) == nil)
        }
    }

    @Test func tablesHaveTheNamesOfIp() {
        #expect(RouteTable.main.description == "main")
        #expect(RouteTable(rawValue: 7100).description == "7100")
        #expect(FirewallMark(rawValue: 31).description == "0x1f")
        #expect(UserIDRange(first: UserID(rawValue: 2), last: UserID(rawValue: 1)) == nil)
        #expect(UserIDRange(UserID(rawValue: 61002)).description == "61002-61002")
    }
}
