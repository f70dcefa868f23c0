// Recognising other VPN clients by the numbers they take, so that the user is told before they get in each other's way.

internal import Addressing
internal import Netlink

/// Another client seen on the host.
package enum OtherClient: Hashable, Sendable, Comparable {
    /// sing-box or mihomo with `auto_route` and default numbers: rules 9000-9010, table 2022.
    case singBox
    /// wg-quick: table 51820.
    case wgQuick
    /// Tailscale: rules 5210-5270, table 52.
    case tailscale

    /// Its name, for people.
    package var name: String {
        switch self {
        case .singBox: "sing-box or mihomo"
        case .wgQuick: "WireGuard (wg-quick)"
        case .tailscale: "Tailscale"
        }
    }

    /// The clients these rules belong to.
    static func seen(in rules: [RuleRecord]) -> [OtherClient] {
        Set(rules.compactMap(OtherClient.init(behind:))).sorted()
    }

    private init?(behind rule: RuleRecord) {
        switch (rule.priority.rawValue, rule.table?.rawValue) {
        case (9000...9010, _), (_, 2022): self = .singBox
        case (_, 51820): self = .wgQuick
        case (5210...5270, _), (_, 52): self = .tailscale
        default: return nil
        }
    }
}

extension HostNetwork {
    /// The clients whose rules are on the host now; they may have come after the tunnel.
    /// - Throws: `NetlinkError`.
    package func otherClients() throws -> [OtherClient] {
        OtherClient.seen(in: try familiesPresent.flatMap { family throws(NetlinkError) in try socket.rules(family) })
    }
}
