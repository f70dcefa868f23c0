// Everything the tunnel wants on the host, as one value.

package import Addressing

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

    /// A plan from its parts.
    package init(link: LinkPlan?, routes: [Route], rules: [RoutingRule], guardTable: GuardTable?) {
        self.link = link
        self.routes = routes
        self.rules = rules
        self.guardTable = guardTable
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
        }
        for family in AddressFamily.allCases {
            lines += rules.filter { $0.family == family }.map { "\(family == .ipv4 ? "rule" : "rule -6") \($0)" }
        }
        for family in AddressFamily.allCases {
            lines += routes.filter { $0.family == family }.map { "\(family == .ipv4 ? "route" : "route -6") \($0)" }
        }
        let text = lines.map { $0 + "\n" }.joined()
        return text + (guardTable?.text ?? "")
    }
}
