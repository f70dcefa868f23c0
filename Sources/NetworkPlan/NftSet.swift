// Sets and lists of prefixes in nft's own listing form.

internal import Addressing

/// A named set of prefixes of one family.
struct NftSet {
    let name: String
    let family: AddressFamily
    let elements: [Prefix]

    /// One set for each family.
    /// - Parameter elements: sorted, none inside another.
    static func pair(_ name: String, _ elements: [Prefix]) -> [NftSet] {
        AddressFamily.allCases.map { family in
            NftSet(name: self.name(name, family), family: family, elements: elements.filter { $0.family == family })
        }
    }

    static func name(_ name: String, _ family: AddressFamily) -> String { name + (family == .ipv4 ? "4" : "6") }

    /// A match of destinations that are in the set.
    var matchesDestination: String { "\(family == .ipv4 ? "ip" : "ip6") daddr @\(name)" }

    /// The definition, a line each.
    var lines: [String] { ["set \(name) {"] + body.map { "\t" + $0 } + ["}"] }

    /// What stands between its braces.
    var body: [String] {
        let start = ["type \(family == .ipv4 ? "ipv4_addr" : "ipv6_addr")", "flags interval"]
        return elements.isEmpty ? start : start + ["elements = \(nftList(elements))"]
    }
}

/// `{ a, b, c }`.
func nftList(_ prefixes: [Prefix]) -> String {
    "{ " + prefixes.map(\.shortDescription).joined(separator: ", ") + " }"
}
