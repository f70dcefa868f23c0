// Whether this machine has a way out at all: its default routes, as /proc/net shows them to everybody.

/// The default routes beside our own. See proc_pid_net(5), /proc/net/route and /proc/net/ipv6_route.
package enum DefaultRoute {
    /// False when there is none; nil when the kernel does not tell.
    package static var isThere: Bool? {
        let limit = 8 << 20
        let four = Surroundings.contents(of: "/proc/net/route", limit: limit)
        let six = Surroundings.contents(of: "/proc/net/ipv6_route", limit: limit)
        if four.map(isInIPv4Table) == true || six.map(isInIPv6Table) == true { return true }
        // Without IPv6 in the kernel its file is missing.
        return four == nil ? nil : false
    }

    /// Whether /proc/net/route holds one: interface, destination, gateway, flags, …, the mask in the eighth column.
    package static func isInIPv4Table(_ table: String) -> Bool {
        table.split(separator: "\n").dropFirst().contains { line in
            let columns = line.split { $0 == "\t" || $0 == " " }
            return columns.count > 7 && columns[1] == "00000000" && columns[7] == "00000000"
                && leadsOut(columns[0], flags: columns[3])
        }
    }

    /// Whether /proc/net/ipv6_route holds one: destination and its length first, the flags last but one, then the interface.
    package static func isInIPv6Table(_ table: String) -> Bool {
        table.split(separator: "\n").contains { line in
            let columns = line.split(separator: " ")
            return columns.count == 10 && columns[0].allSatisfy { $0 == "0" } && columns[1] == "00"
                && leadsOut(columns[9], flags: columns[8])
        }
    }

    /// RTF_UP (1) without RTF_REJECT (0x200), by another device than the loopback and the tunnel.
    private static func leadsOut(_ device: Substring, flags: Substring) -> Bool {
        guard let flags = UInt32(flags, radix: 16) else { return false }
        return flags & 1 != 0 && flags & 0x200 == 0 && device != "lo" && !device.hasPrefix("trocket")
    }
}
