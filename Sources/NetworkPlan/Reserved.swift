// The names and numbers this program takes on a host, in one place, with the reason for each.

package import Addressing

/// What the tunnel takes on a host: private names and numbers, so that other clients' defaults (sing-box and mihomo: table
/// 2022 and rules 9000-9010; wg-quick: 51820; Tailscale: 52xx and table 52) neither break it nor are broken by it.
package enum Reserved {
    /// The host's end of the veth pair.
    package static let link = InterfaceName(trusted: "trocket0")
    /// The sandbox's end of the veth pair.
    package static let peer = InterfaceName(trusted: "uplink0")
    /// The engine's TUN, inside the sandbox.
    package static let tun = InterfaceName(trusted: "tun0")
    /// `02:74:72:6f:63:01`: locally administered, "troc". Fixed, so that the link is recognised as ours.
    package static let linkHardwareAddress = MACAddress(bytes: [0x02, 0x74, 0x72, 0x6f, 0x63, 0x01])!
    /// `02:74:72:6f:63:02`.
    package static let peerHardwareAddress = MACAddress(bytes: [0x02, 0x74, 0x72, 0x6f, 0x63, 0x02])!

    /// The table that leads into the tunnel.
    package static let tunnelTable = RouteTable(rawValue: 7100)
    /// The table that leads DNS, and what comes from the tunnel's own address, into the tunnel; it never holds a `throw`
    /// route.
    package static let dnsTable = RouteTable(rawValue: 7101)

    /// The engine's own traffic jumps over everything below.
    package static let engineRule = RulePriority(rawValue: 7100)
    /// Makes the kernel dissect ports in the reverse-path filter.
    package static let dissectRule = RulePriority(rawValue: 7105)
    /// DNS to anyone goes to the engine.
    package static let dnsRule = RulePriority(rawValue: 7110)
    /// Broadcast, multicast and IPv4 link-local stay on the line.
    package static let broadcastRule = RulePriority(rawValue: 7115)
    /// Private and on-link destinations stay on the line.
    package static let localRule = RulePriority(rawValue: 7120)
    /// DNS over TLS and QUIC to anyone else goes to the engine, domestic resolvers included: the guard lets none past it.
    package static let secureDNSRule = RulePriority(rawValue: 7125)
    /// New local connections, and replies from the tunnel's own address.
    package static let captureRule = RulePriority(rawValue: 7130)
    /// IPv6 only: what has a source address already keeps its way.
    package static let sourceRule = RulePriority(rawValue: 7131)
    /// IPv6 only: everything else.
    package static let captureRestRule = RulePriority(rawValue: 7132)
    /// The target of the engine's jump: main.
    package static let endRule = RulePriority(rawValue: 7200)
    /// Every priority above lies in this range, and no other client is known to use it.
    package static let priorities = RulePriority(rawValue: 7100)...RulePriority(rawValue: 7200)

    /// The mark of Tailscale's own, encrypted packets, as nft writes it; its rule 5210 leads them past every tunnel. Only who
    /// has CAP_NET_ADMIN, or since Linux 5.17 CAP_NET_RAW, can set a mark.
    package static let tailscaleMark = "meta skuid 0 meta mark & 0x00ff0000 == 0x00080000"

    /// The conntrack mark of the engine's TCP connections, as nft writes it: clear of Tailscale's bits, and set only where
    /// nobody else has set one.
    package static let engineConnection = "0x71000000"

    /// The nft table on the host (family `inet`).
    package static let guardTable = "trocket_guard"
    /// Guards while `guardTable` is made anew.
    package static let guardStandIn = "trocket_guard_standin"
    /// Has the kernel track connections while the guard comes.
    package static let trackingTable = "trocket_tracking"
    /// The nft table that lets domestic destinations pass the guard.
    package static let domesticTable = "trocket_domestic"
    /// The mark of what it lets pass, between that table and the guard; "troc", as nft writes it.
    package static let domesticMark = "0x74726f63"
    /// The conntrack mark of connections it has let pass, as nft writes it; set only where nobody else has set one.
    package static let domesticConnection = "0x72000000"
    /// The nft table inside the sandbox (family `inet`).
    package static let sandboxTable = "trocket"

    /// Destinations that are nobody's but the line's own, IPv4: RFC 1918 and RFC 6598.
    package static let privateIPv4 = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
    /// Destinations that are nobody's but the line's own, IPv6: RFC 4193 and link-local.
    package static let privateIPv6 = prefixes("fc00::/7", "fe80::/10")
    /// Broadcast, multicast and link-local, IPv4.
    package static let broadcastIPv4 = prefixes("255.255.255.255/32", "224.0.0.0/4", "169.254.0.0/16")
    /// Source classes that keep their way, IPv6: anything a bound socket may come from.
    package static let sourcesIPv6 = prefixes("2000::/3", "fc00::/7", "fe80::/10")

    /// Prefixes written in this program's own source.
    static func prefixes(_ texts: String...) -> [Prefix] { texts.map { Prefix($0)! } }
}
