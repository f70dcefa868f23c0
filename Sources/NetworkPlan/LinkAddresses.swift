// The addresses of the veth pair and of the TUN, chosen from a short list so that nothing on the host uses them.

package import Addressing

/// The addresses of one tunnel: a /30 and a /126 between host and sandbox, and the same for the TUN inside.
package struct LinkAddresses: Hashable, Sendable {
    /// The network between host and sandbox, IPv4: a /30.
    package let ipv4: Prefix
    /// The network between host and sandbox, IPv6: a /126.
    package let ipv6: Prefix
    /// The network of the TUN inside the sandbox, IPv4: a /30.
    package let tunIPv4: Prefix
    /// The network of the TUN inside the sandbox, IPv6: a /126.
    package let tunIPv6: Prefix

    /// These networks, chosen earlier by `select(avoiding:)` in another process.
    package init(ipv4: Prefix, ipv6: Prefix, tunIPv4: Prefix, tunIPv6: Prefix) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.tunIPv4 = tunIPv4
        self.tunIPv6 = tunIPv6
    }

    /// The network between host and sandbox of one family.
    package func network(_ family: AddressFamily) -> Prefix { family == .ipv4 ? ipv4 : ipv6 }
    /// The host's address on the link.
    package func host(_ family: AddressFamily) -> InterfaceAddress { network(family).address(1) }
    /// The sandbox's address on the link.
    package func inside(_ family: AddressFamily) -> InterfaceAddress { network(family).address(2) }
    /// The engine's address on its TUN.
    package func tun(_ family: AddressFamily) -> InterfaceAddress {
        (family == .ipv4 ? tunIPv4 : tunIPv6).address(1)
    }

    /// A resolver's address that lies in the tunnel and belongs to nobody: the engine answers queries to it. Not one of the
    /// sandbox's own addresses, which take no TCP or UDP.
    package func resolver(_ family: AddressFamily) -> IPAddress {
        (family == .ipv4 ? tunIPv4 : tunIPv6).address(2).address
    }

    /// The addresses tried first; those of the golden transcript.
    package static let preferred = LinkAddresses(
        ipv4: candidatesIPv4[0].link, ipv6: candidatesIPv6[0].link, tunIPv4: candidatesIPv4[0].tun,
        tunIPv6: candidatesIPv6[0].tun)

    /// Chooses networks that share no address with any of these; nil when the whole list is taken. A prefix wider than /8
    /// (IPv4) or /16 (IPv6) is a way out (`default`, `0.0.0.0/1`, `2000::/3`), not a use of the addresses.
    package static func select(avoiding used: some Sequence<Prefix>) -> LinkAddresses? {
        let used = used.filter { $0.length >= ($0.family == .ipv4 ? 8 : 16) }
        func isFree(_ pair: (link: Prefix, tun: Prefix)) -> Bool { !used.contains { $0.overlaps(pair.link) } }
        guard let four = candidatesIPv4.first(where: isFree), let six = candidatesIPv6.first(where: isFree) else {
            return nil
        }
        return LinkAddresses(ipv4: four.link, ipv6: six.link, tunIPv4: four.tun, tunIPv6: six.tun)
    }

    /// 198.18.0.0/15 is for measurements (RFC 2544) and on no real network, but other clients hand out false addresses from
    /// 198.18.0.0/16: hence the upper half first. 172.16.0.0/12 is left to containers.
    private static let candidatesIPv4: [(link: Prefix, tun: Prefix)] = pairs(
        ("198.19.77.0/30", "198.19.78.0/30"), ("198.19.177.0/30", "198.19.178.0/30"),
        ("198.18.77.0/30", "198.18.78.0/30"), ("10.213.77.0/30", "10.213.78.0/30"),
        ("192.168.213.0/30", "192.168.214.0/30"), ("100.127.213.0/30", "100.127.214.0/30"))

    /// Unique local addresses (RFC 4193) whose bits spell "trocket".
    private static let candidatesIPv6: [(link: Prefix, tun: Prefix)] = pairs(
        ("fd74:726f:636b:6574::/126", "fd74:726f:636b:6575::/126"),
        ("fd74:726f:636b:6576::/126", "fd74:726f:636b:6577::/126"),
        ("fdb4:726f:636b:6574::/126", "fdb4:726f:636b:6575::/126"))

    private static func pairs(_ texts: (String, String)...) -> [(link: Prefix, tun: Prefix)] {
        texts.map { (Prefix($0.0)!, Prefix($0.1)!) }
    }
}

extension Prefix {
    /// The n-th address of the network, counted from its first.
    fileprivate func address(_ number: UInt8) -> InterfaceAddress {
        var bytes = address.bytes
        bytes[bytes.count - 1] |= number
        return InterfaceAddress(IPAddress(bytes: bytes)!, length: length)!
    }
}
