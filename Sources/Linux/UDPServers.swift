// UDP servers that listen on every address of this machine, as /proc shows its sockets to everybody.

/// UDP servers on every address: what they answer takes the way of everything that begins here. See proc_pid_net(5),
/// /proc/net/udp and /proc/net/udp6.
package enum UDPServers {
    /// Their ports, the lowest first. Without those the kernel gives to whoever only asks, and those of local protocols.
    package static var ports: [UInt16] {
        let tables = ["/proc/net/udp", "/proc/net/udp6"].compactMap { Surroundings.contents(of: $0, limit: 8 << 20) }
        let range = Surroundings.contents(of: "/proc/sys/net/ipv4/ip_local_port_range") ?? ""
        return ports(in: tables, given: range)
    }

    /// The servers in such tables. A row holds its number, the local address and port, the peer's, and the state.
    /// - Parameter range: the first and the last port that the kernel gives.
    package static func ports(in tables: [String], given range: String) -> [UInt16] {
        let bounds = range.split { $0.isWhitespace }.compactMap { UInt16($0) }
        let given = bounds.count == 2 && bounds[0] <= bounds[1] ? bounds[0]...bounds[1] : 32_768...60_999
        let rows = tables.flatMap { $0.split(separator: "\n").dropFirst() }
        return Set(rows.compactMap(anyAddressPort)).subtracting(local).filter { !given.contains($0) }.sorted()
    }

    /// The port of a socket that is bound to every address and has no peer.
    private static func anyAddressPort(_ row: Substring) -> UInt16? {
        let columns = row.split(separator: " ")
        guard columns.count > 3, columns[2].allSatisfy({ $0 == "0" || $0 == ":" }),
            case let local = columns[1].split(separator: ":"), local.count == 2, local[0].allSatisfy({ $0 == "0" })
        else { return nil }
        return UInt16(local[1], radix: 16)
    }

    /// What is spoken on local networks only, which are reached directly: DHCP, NetBIOS, SSDP, WS-Discovery, mDNS, LLMNR.
    private static let local: Set<UInt16> = [67, 68, 137, 138, 546, 547, 1900, 3702, 5353, 5355]
}
