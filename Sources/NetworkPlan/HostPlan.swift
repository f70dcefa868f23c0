// Everything the tunnel wants on the host, as one value.

package import Addressing

/// Who is at the other end of a link. Written down because nobody can be asked with a foreign source address: an IPv6 packet
/// that keeps the uplink's address when it is led into the tunnel leaves the link, which has no address of its own kind
/// (fe80), unable to solicit, and everyone else waiting.
package struct Neighbour: Hashable, Sendable, CustomStringConvertible {
    /// The address on the link.
    package var address: IPAddress
    /// The hardware address it is reached at.
    package var hardwareAddress: MACAddress

    /// As `ip neighbour` shows it, without the link.
    package var description: String { "\(address) lladdr \(hardwareAddress)" }
}

/// A veth pair between the host and a sandbox.
package struct LinkPlan: Hashable, Sendable {
    /// The host's end.
    package var name: InterfaceName
    /// Its hardware address.
    package var hardwareAddress: MACAddress
    /// The sandbox's end.
    package var peer: InterfaceName
    /// Its hardware address.
    package var peerHardwareAddress: MACAddress
    /// The MTU of both ends, in bytes.
    package var mtu: UInt32
    /// The addresses of the host's end.
    package var addresses: [InterfaceAddress]
    /// The sandbox's end, as seen from the host's.
    package var neighbours: [Neighbour]
}

/// Everything the tunnel wants on the host. Two plans can be compared; `PlanDiff` says how to get from one to the other.
package struct HostPlan: Hashable, Sendable {
    /// The link into the sandbox; nil while there is none.
    package var link: LinkPlan?
    /// Routes, all in tables of our own.
    package var routes: [Route]
    /// Rules of both families, in the order of their lists.
    package var rules: [RoutingRule]
    /// The nft table; nil where nft is missing.
    package var guardTable: GuardTable?
    /// Destinations that never enter the tunnel: `throw` routes in its table, and let through by the guard. Sorted, none
    /// inside another; thousands of them, so they are no part of `routes` and `guardTable`.
    package var domestic: [Prefix]

    /// A plan from its parts.
    package init(
        link: LinkPlan?, routes: [Route], rules: [RoutingRule], guardTable: GuardTable?, domestic: [Prefix] = []
    ) {
        self.link = link
        self.routes = routes
        self.rules = rules
        self.guardTable = guardTable
        self.domestic = domestic
    }

    /// Nothing wanted: the host as it was.
    package static let empty = HostPlan(link: nil, routes: [], rules: [], guardTable: nil)

    /// Nothing but the guard: what a wanted tunnel looks like while it has no sandbox.
    package static func blocked(by guardTable: GuardTable) -> HostPlan {
        HostPlan(link: nil, routes: [], rules: [], guardTable: guardTable)
    }
}

extension HostPlan {
    /// The plan as `ip` and `nft` would show it: link, rules of each family, tables, guard.
    package var transcript: String {
        var lines: [String] = []
        if let link {
            lines.append(
                "link \(link.name) address \(link.hardwareAddress) mtu \(link.mtu) type veth "
                    + "peer \(link.peer) address \(link.peerHardwareAddress)")
            lines += link.addresses.map { "address \($0) dev \(link.name)" }
            lines += link.neighbours.map { "neighbour \($0) dev \(link.name) nud permanent" }
        }
        for family in AddressFamily.allCases {
            lines += rules.filter { $0.family == family }.map { "\(family == .ipv4 ? "rule" : "rule -6") \($0)" }
        }
        for family in AddressFamily.allCases {
            lines += routes.filter { $0.family == family }.map { "\(family == .ipv4 ? "route" : "route -6") \($0)" }
        }
        lines += domestic.map {
            "\($0.family == .ipv4 ? "route" : "route -6") \(Route($0, .thrown, table: Reserved.tunnelTable))"
        }
        let text = lines.map { $0 + "\n" }.joined()
        return text + (guardTable?.text ?? "")
    }
}
