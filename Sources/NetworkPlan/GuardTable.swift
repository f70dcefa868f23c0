// The kill-switch table of the host as a value, and its text in nft's own listing form.

package import Addressing

/// The nft table that rejects what would leave the host around the tunnel. Rules alone cannot do it: a socket bound to an
/// address or a device picks its own way (`network.md`).
package struct GuardTable: Hashable, Sendable {
    /// Whether the table outlives its maker.
    package enum Lifetime: Hashable, Sendable {
        /// Gone with the worker (`flags owner`): the kill switch is off.
        case worker
        /// Stays until it is removed: the kill switch is on.
        case persistent
    }

    /// The user whose traffic passes: the engine.
    package var engine: UserID
    /// The user systemd-resolved runs as: what it asks by TLS is refused, so that it asks the engine, in plain.
    package var resolver: UserID?
    /// The link whose traffic passes.
    package var link: InterfaceName
    /// Networks the host is on.
    package var onLink: [Prefix]
    /// Destinations that go past the tunnel by choice (Rule mode).
    package var domestic: [Prefix]
    /// Whether it outlives the worker.
    package var lifetime: Lifetime

    /// A table; the lists are brought into their smallest form, as nft refuses sets with overlapping elements.
    package init(
        engine: UserID, resolver: UserID? = nil, link: InterfaceName = Reserved.link, onLink: [Prefix],
        domestic: [Prefix] = [], lifetime: Lifetime
    ) {
        self.engine = engine
        self.resolver = resolver
        self.link = link
        self.onLink = Prefix.minimal(onLink)
        self.domestic = Prefix.minimal(domestic)
        self.lifetime = lifetime
    }

    /// The table as nft lists it (libnftables 1.0.6), but for the wrapping of long sets.
    package var text: String {
        var sets = NftSet.pair("onlink", onLink)
        if !domestic.isEmpty { sets += NftSet.pair("domestic", domestic) }
        var lines = ["table inet \(Reserved.guardTable) {"]
        if lifetime == .worker { lines += ["\tflags owner", ""] }
        for set in sets { lines += set.lines.map { "\t" + $0 } + [""] }
        lines += ["\tchain out {", "\t\ttype filter hook output priority filter; policy accept;"]
        lines += rules(sets).map { "\t\t" + $0 } + ["\t}", ""]
        // What comes out of the sandbox and is not for this host is nobody's: it must not be routed on.
        lines += ["\tchain no_return {", "\t\ttype filter hook forward priority filter; policy accept;"]
        lines += ["\t\tiifname \"\(link)\" drop", "\t}", "}"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The number of rules in the chain `out`, for reading back.
    package var ruleCount: Int { rules(NftSet.pair("onlink", onLink)).count + (domestic.isEmpty ? 0 : 2) }

    private func rules(_ sets: [NftSet]) -> [String] {
        let lan4 = (Reserved.privateIPv4 + Reserved.broadcastIPv4).sorted()
        let lan6 = (Reserved.privateIPv6 + Reserved.prefixes("ff00::/8")).sorted()
        // A connection kept from before would go on; the reset ends it.
        let byTLS = resolver.map {
            ["oifname \"\(link)\" meta skuid \($0) tcp dport \(Port.dnsOverTLS) reject with tcp reset"]
        }
        return ["meta skuid \(engine) accept"] + (byTLS ?? []) + [
            "oifname { \"lo\", \"\(link)\" } accept",
            // Replies of connections that came in: a session into this host lives.
            "ct direction reply accept",
            "\(Reserved.tailscaleMark) accept",
            "udp sport 68 udp dport 67 accept",
            "udp sport 546 udp dport 547 accept",
            "icmpv6 type { mld-listener-report, nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert, "
                + "mld2-listener-report } accept",
            // Before the local networks: a resolver on the LAN must not be asked around the tunnel.
            "meta l4proto { tcp, udp } th dport { \(Port.dns), \(Port.dnsOverTLS) } reject",
            "ip daddr \(nftList(lan4)) accept",
            "ip6 daddr \(nftList(lan6)) accept",
        ] + sets.map { "\($0.family == .ipv4 ? "ip" : "ip6") daddr @\($0.name) accept" } + ["reject"]
    }
}

/// A named set of prefixes of one family.
private struct NftSet {
    let name: String
    let family: AddressFamily
    let elements: [Prefix]

    static func pair(_ name: String, _ elements: [Prefix]) -> [NftSet] {
        AddressFamily.allCases.map { family in
            NftSet(
                name: name + (family == .ipv4 ? "4" : "6"), family: family,
                elements: elements.filter { $0.family == family })
        }
    }

    var lines: [String] {
        var body = ["\ttype \(family == .ipv4 ? "ipv4_addr" : "ipv6_addr")", "\tflags interval"]
        if !elements.isEmpty { body.append("\telements = \(nftList(elements))") }
        return ["set \(name) {"] + body + ["}"]
    }
}

/// `{ a, b, c }`.
func nftList(_ prefixes: [Prefix]) -> String {
    "{ " + prefixes.map(\.shortDescription).joined(separator: ", ") + " }"
}
