// Everything the engine host wants inside the sandbox, as one value.

package import Addressing

/// A kernel parameter below `/proc/sys`.
package struct KernelParameter: Hashable, Sendable, CustomStringConvertible {
    /// The path below `/proc/sys`, such as `net/ipv4/ip_forward`.
    package let path: String
    /// The value to write.
    package let value: String

    package var description: String {
        "\(path.split(separator: "/").joined(separator: ".")) = \(value)"
    }
}

/// Everything the engine host wants inside the sandbox. The veth's inner end and the TUN are made by others (worker, engine)
/// and have to be there.
package struct SandboxPlan: Hashable, Sendable {
    /// The inner end of the veth pair.
    package var peer: InterfaceName
    /// The engine's TUN.
    package var tun: InterfaceName
    /// The MTU of the TUN, in bytes.
    package var tunMTU: UInt32
    /// The addresses of `peer`.
    package var addresses: [InterfaceAddress]
    /// The host's end, as seen from `peer`.
    package var neighbours: [Neighbour]
    /// Kernel parameters.
    package var parameters: [KernelParameter]
    /// Routes.
    package var routes: [Route]
    /// Rules.
    package var rules: [RoutingRule]
    /// The nft table that leads TCP to `redirect` and UDP to `tproxy`; nil where nft is missing and the TUN carries all.
    package var ruleset: String?
}

/// Where the engine's inbounds listen inside the sandbox.
package struct SandboxPorts: Hashable, Sendable {
    /// The `redirect` inbound.
    package var redirect: Port
    /// The `tproxy` inbound.
    package var tproxy: Port

    /// Ports of the two inbounds.
    package init(redirect: Port = Port(rawValue: 7892), tproxy: Port = Port(rawValue: 7893)) {
        self.redirect = redirect
        self.tproxy = tproxy
    }
}

extension SandboxPlan {
    private static let tunTable = RouteTable(rawValue: 101)
    private static let tproxyTable = RouteTable(rawValue: 100)
    private static let tproxyMark = FirewallMark(rawValue: 1)
    /// Above the metric of any other route.
    private static let lastResort: UInt32 = 4_000_000

    /// The plan for a sandbox.
    package init(
        addresses: LinkAddresses, ports: SandboxPorts = SandboxPorts(), hasNft: Bool, hasIPv6: Bool = true,
        tunMTU: UInt32 = 65535
    ) {
        let families: [AddressFamily] = hasIPv6 ? [.ipv4, .ipv6] : [.ipv4]
        peer = Reserved.peer
        tun = Reserved.tun
        self.tunMTU = tunMTU
        self.addresses = families.map(addresses.inside)
        neighbours = families.map {
            Neighbour(address: addresses.host($0).address, hardwareAddress: Reserved.linkHardwareAddress)
        }
        // The engine waits at the TUN's IPv6 address, which the kernel takes for its own only after a moment; a bind that
        // comes before that is tried again after a second (sing-tun). First of all, as the TUN may come at any time.
        parameters = hasIPv6 ? [KernelParameter(path: "net/ipv6/ip_nonlocal_bind", value: "1")] : []
        parameters.append(KernelParameter(path: "net/ipv4/ip_forward", value: "1"))
        if hasIPv6 { parameters.append(KernelParameter(path: "net/ipv6/conf/all/forwarding", value: "1")) }
        // Without it replies sent from ports below 1024 by `tproxy` vanish: DNS, QUIC, NTP.
        parameters.append(KernelParameter(path: "net/ipv4/ip_unprivileged_port_start", value: "0"))
        routes = families.flatMap { family in
            [
                // Only for what comes in by the link: replies of the engine to bound clients must not go to the TUN.
                Route(.all(family), .device(Reserved.tun), table: Self.tunTable),
                // The TUN goes with a dead engine; without this its traffic would turn back to the host and out of it.
                Route(.all(family), .unreachable, table: Self.tunTable, metric: Self.lastResort),
                Route(.all(family), .local(.loopback), table: Self.tproxyTable),
                Route(.all(family), .gateway(addresses.host(family).address, Reserved.peer), table: .main),
            ]
        }
        rules = families.flatMap { family in
            [
                RoutingRule(
                    family, RulePriority(rawValue: 100), mark: Self.tproxyMark, action: .lookup(Self.tproxyTable)),
                RoutingRule(
                    family, RulePriority(rawValue: 101), incoming: Reserved.peer, action: .lookup(Self.tunTable)),
            ]
        }
        ruleset = hasNft ? Self.ruleset(addresses, ports) : nil
    }

    /// The table as nft lists it (libnftables 1.0.6).
    private static func ruleset(_ addresses: LinkAddresses, _ ports: SandboxPorts) -> String {
        let from = "iifname \"\(Reserved.peer)\""
        let own = { (family: AddressFamily) in
            nftList([addresses.inside(family), addresses.tun(family)].map { Prefix(host: $0.address) })
        }
        let mark = "meta mark set 0x0000000\(String(tproxyMark.rawValue, radix: 16)) accept"
        return """
            table inet \(Reserved.sandboxTable) {
            \tchain guard {
            \t\ttype filter hook prerouting priority raw; policy accept;
            \t\t\(from) ip daddr \(own(.ipv4)) meta l4proto { tcp, udp } drop
            \t\t\(from) ip6 daddr \(own(.ipv6)) meta l4proto { tcp, udp } drop
            \t}

            \tchain divert_tcp {
            \t\ttype nat hook prerouting priority dstnat; policy accept;
            \t\t\(from) meta l4proto tcp redirect to :\(ports.redirect)
            \t}

            \tchain divert_udp {
            \t\ttype filter hook prerouting priority mangle; policy accept;
            \t\t\(from) meta l4proto udp meta nfproto ipv4 tproxy ip to :\(ports.tproxy) \(mark)
            \t\t\(from) meta l4proto udp meta nfproto ipv6 tproxy ip6 to :\(ports.tproxy) \(mark)
            \t}

            \tchain no_return {
            \t\ttype filter hook forward priority filter; policy accept;
            \t\t\(from) oifname "\(Reserved.peer)" drop
            \t}
            }

            """
    }

    /// The plan as commands would say it.
    package var transcript: String {
        func dash(_ family: AddressFamily) -> String { family == .ipv4 ? "" : " -6" }
        var lines = ["link lo up", "link \(peer) up", "link \(tun) up mtu \(tunMTU)"]
        lines += addresses.map { "address \($0) dev \(peer)" }
        lines += neighbours.map { "neighbour \($0) dev \(peer) nud permanent" }
        lines += parameters.map(\.description)
        lines += rules.map { "rule\(dash($0.family)) \($0)" }
        lines += routes.map { "route\(dash($0.family)) \($0)" }
        return lines.map { $0 + "\n" }.joined() + (ruleset ?? "")
    }
}
