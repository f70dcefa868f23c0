// Which destinations are on the line itself, from the addresses seen on the host.

package import Addressing

/// An address seen on a host's interface.
package struct ObservedAddress: Hashable, Sendable {
    /// The interface that holds it.
    package let interface: InterfaceName
    /// The network it spans; with a point-to-point address, that of the other end.
    package let prefix: Prefix

    /// An observation.
    package init(interface: InterfaceName, prefix: Prefix) {
        self.interface = interface
        self.prefix = prefix
    }
}

/// The networks a host is on, which stay off the tunnel.
package struct OnLinkPrefixes: Hashable, Sendable {
    /// Networks that are let past the tunnel: minimal, sorted, without what is private anyway.
    package let accepted: [Prefix]
    /// Networks too wide to believe: a hostile DHCP server may claim half the Internet as on-link (TunnelVision's twin).
    package let refused: [Prefix]

    /// Judges the addresses of a host. Taken from addresses, not from routes: routes come from option 121 of any DHCP server.
    package init(_ observed: some Sequence<ObservedAddress>) {
        let covered = Reserved.privateIPv4 + Reserved.privateIPv6 + Reserved.broadcastIPv4
        let candidates = observed.filter { seen in
            seen.interface != Reserved.link && seen.interface != .loopback && !seen.prefix.isHost
                && !covered.contains { $0.contains(seen.prefix) }
        }.map(\.prefix)
        accepted = Prefix.minimal(candidates.filter { !Self.isTooWide($0) })
        refused = Prefix.minimal(candidates.filter(Self.isTooWide))
    }

    private static func isTooWide(_ prefix: Prefix) -> Bool { prefix.length < (prefix.family == .ipv4 ? 16 : 48) }
}
