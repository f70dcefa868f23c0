// The kill-switch table of the host as a value, and its text in nft's own listing form.

package import Addressing

/// The nft table that rejects what would leave the host around the tunnel. Rules alone cannot do it: a socket bound to an
/// address or a device picks its own way (`specs/001-linux-vpn-client/spec.md`, "What may pass in each state").
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
    /// Whether it outlives the worker.
    package var lifetime: Lifetime
    /// Ports of this side from which replies do not pass: where connections from before could not be reset, one that was
    /// opened here may count as come in.
    package var refusedReplies: ClosedRange<Port>?

    /// A table; the lists are brought into their smallest form, as nft refuses sets with overlapping elements.
    package init(
        engine: UserID, resolver: UserID? = nil, link: InterfaceName = Reserved.link, onLink: [Prefix],
        lifetime: Lifetime
    ) {
        self.engine = engine
        self.resolver = resolver
        self.link = link
        self.onLink = Prefix.minimal(onLink)
        self.lifetime = lifetime
    }

    /// The set that holds the networks the host is on.
    package static func onLinkSet(_ family: AddressFamily) -> String { NftSet.name(onLinkName, family) }
    private static let onLinkName = "onlink"

    /// The table as nft lists it (libnftables 1.0.6), but for the wrapping of long sets.
    package var text: String { text(named: Reserved.guardTable, isOwned: lifetime == .worker) }

    /// The same under a name that guards while the table itself is made anew; gone with the worker.
    package var standIn: String { text(named: Reserved.guardStandIn, isOwned: true) }

    /// A table that lets everything pass and has the kernel track connections; gone with the worker.
    package static let tracking = """
        table inet \(Reserved.trackingTable) {
        \tflags owner

        \tchain out {
        \t\ttype filter hook output priority filter; policy accept;
        \t\tct state new accept
        \t}
        }

        """

    private func text(named name: String, isOwned: Bool) -> String {
        var lines = ["table inet \(name) {"]
        if isOwned { lines += ["\tflags owner", ""] }
        for set in sets { lines += set.lines.map { "\t" + $0 } + [""] }
        for chain in chains {
            lines += ["\tchain \(chain.name) {", "\t\t\(chain.hook)"] + chain.rules.map { "\t\t" + $0 } + ["\t}", ""]
        }
        lines[lines.count - 1] = "}"
        return lines.joined(separator: "\n") + "\n"
    }

    /// Commands that put everything into an empty table, whatever its flags are.
    package var filling: String {
        let table = "inet \(Reserved.guardTable)"
        var lines = sets.map { "add set \(table) \($0.name) { \($0.body.joined(separator: "; ")); }" }
        lines += chains.map { "add chain \(table) \($0.name) { \($0.hook) }" }
        for chain in chains { lines += chain.rules.map { "add rule \(table) \(chain.name) \($0)" } }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The number of rules in the chain `out`, for reading back.
    package var ruleCount: Int { chains[0].rules.count }

    private var sets: [NftSet] { NftSet.pair(Self.onLinkName, onLink) }

    private var chains: [(name: String, hook: String, rules: [String])] {
        [
            ("out", "type filter hook output priority filter; policy accept;", outputRules),
            // What comes out of the sandbox and is not for this host is nobody's: it must not be routed on.
            ("no_return", "type filter hook forward priority filter; policy accept;", ["iifname \"\(link)\" drop"]),
        ]
    }

    private var outputRules: [String] {
        let lan4 = (Reserved.privateIPv4 + Reserved.broadcastIPv4).sorted()
        let lan6 = (Reserved.privateIPv6 + Reserved.prefixes("ff00::/8")).sorted()
        // A connection kept from before would go on; the reset ends it.
        let byTLS = resolver.map {
            ["oifname \"\(link)\" meta skuid \($0) tcp dport \(Port.dnsOverTLS) reject with tcp reset"]
        }
        let ours = [
            // What the table of domestic destinations, which goes with the worker, lets pass.
            "meta mark \(Reserved.domesticMark) accept",
            "meta skuid \(engine) meta l4proto tcp ct state new ct mark 0x00000000 "
                + "ct mark set \(Reserved.engineConnection)",
            "meta skuid \(engine) accept",
        ]
        return ours + (byTLS ?? []) + [
            "oifname { \"lo\", \"\(link)\" } accept",
            // The last acknowledgement of a connection the engine has closed: the kernel sends it for no socket and no
            // user, and without it the server repeats its goodbye for two minutes. A program that comes by the same ports
            // has a user.
            "meta skuid != \(engine) ct mark \(Reserved.engineConnection) ct mark set 0x00000000",
            "ct mark \(Reserved.engineConnection) accept",
            "\(Reserved.tailscaleMark) accept",
            // Before the local networks: a resolver on the LAN must not be asked around the tunnel. Before the replies: where
            // tracking begins with the guard, an answer under way makes all later questions of that socket replies.
            "meta l4proto { tcp, udp } th dport { \(Port.dns), \(Port.dnsOverTLS) } reject",
        ]
            + (refusedReplies.map {
                ["ct direction reply meta l4proto { tcp, udp } th sport \($0.lowerBound)-\($0.upperBound) reject"]
            } ?? []) + [
                // Replies of connections that came in: a session into this host lives.
                "ct direction reply accept",
                "udp sport 68 udp dport 67 accept",
                "udp sport 546 udp dport 547 accept",
                "icmpv6 type { mld-listener-report, nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert, "
                    + "mld2-listener-report } accept",
                "ip daddr \(nftList(lan4)) accept",
                "ip6 daddr \(nftList(lan6)) accept",
            ] + sets.map { "\($0.matchesDestination) accept" }
            + ["reject"]
    }
}
