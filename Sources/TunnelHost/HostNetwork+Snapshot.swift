// The host's side for `status --network`, read from the kernel and not from memory.

internal import Addressing
internal import Firewall
internal import Netlink
internal import NetworkPlan

extension HostNetwork {
    /// What the kernel has of ours, a line each, as `ip` and `nft` write it.
    /// - Throws: `NetlinkError`, `FirewallError`.
    package func snapshot() throws -> [String] {
        var lines: [String] = []
        let names = try linkNames()
        if let link = try socket.link(named: Reserved.link) {
            lines.append("link \(link.name) \(link.isUp ? "up" : "down") mtu \(link.mtu)")
            lines += try socket.addresses().filter { $0.index == link.index }.map {
                "address \($0.address)/\($0.prefix.length) dev \(link.name)"
            }
        }
        for family in familiesPresent {
            let dash = family == .ipv4 ? "" : " -6"
            lines += try socket.rules(family).filter { Reserved.priorities.contains($0.priority) }.map {
                "rule\(dash) " + ($0.planned?.description ?? "\($0.priority): (a rule of another program)")
            }
            lines += try ownRoutes().filter { $0.destination.family == family }.map {
                "route\(dash) " + ($0.planned(names: names)?.description ?? "\($0.destination) table \($0.table)")
            }
        }
        let thrown = try familiesPresent.reduce(0) { count, family in
            let contents = try socket.contents(family, table: Reserved.tunnelTable, withThrown: true)
            return count + (contents.thrown?.count ?? 0)
        }
        if thrown > 0 { lines.append("route throw \(thrown) domestic prefixes table \(Reserved.tunnelTable)") }
        // With thousands of elements only their sets are named.
        if let listing = try guardText(withElements: thrown == 0) {
            lines += listing.split(separator: "\n").map { "nft " + $0.replacingTabs() }
        }
        if thrown > 0 { releaseUnusedMemory() }
        return lines
    }

    /// The guard as nft lists it, read in a context of its own, which goes at once with every element it read.
    private func guardText(withElements: Bool) throws -> String? {
        try Nftables(reachable: nft != nil && netfilterRefusal() == nil)?
            .listing(Reserved.guardTable, withElements: withElements)
    }
}

extension Substring {
    fileprivate func replacingTabs() -> String { map { $0 == "\t" ? "  " : String($0) }.joined() }
}
