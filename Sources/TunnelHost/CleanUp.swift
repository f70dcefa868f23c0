// Removing what a worker that died left on the host.

internal import Addressing
internal import Firewall
internal import Logging
internal import Netlink
internal import NetworkPlan

/// What was left behind.
struct Leftovers {
    var link: LinkRecord?
    var rules: [RoutingRule] = []
    var routes: [RouteRecord] = []
    /// What our table throws.
    var thrown: [Prefix] = []
    var guardLifetime: GuardTable.Lifetime?

    /// As `ip` and `nft` would write it.
    var descriptions: [String] {
        (link.map { ["link \($0.name)"] } ?? [])
            + rules.map { "rule \($0.family == .ipv4 ? "" : "-6 ")\($0)" }
            + routes.map { "route \($0.destination) table \($0.table)" }
            + (thrown.isEmpty ? [] : ["\(thrown.count) throw routes table \(Reserved.tunnelTable)"])
            + (guardLifetime == nil ? [] : ["table inet \(Reserved.guardTable)"])
    }
}

extension HostNetwork {
    /// What is on the host with our numbers and is not part of what this object installed. A ledger of this boot says what is
    /// ours; without one, objects are recognised by their shape.
    func findLeftovers() throws -> Leftovers {
        let recorded: LedgerEntries?
        do { recorded = try ledger.read() } catch is LedgerError { recorded = nil }
        var left = Leftovers()
        if installed.link == nil, let link = try socket.link(named: Reserved.link), link.kind == "veth",
            link.hardwareAddress == Reserved.linkHardwareAddress
        {
            left.link = link
        }
        let kept = Set(installed.rules)
        for family in familiesPresent {
            left.rules += try socket.rules(family).compactMap(\.planned).filter { rule in
                guard !kept.contains(rule), rule.isOfOurShape else { return false }
                return recorded?.rules.contains(LedgerEntries.key(rule)) ?? true
            }
        }
        if installed.routes.isEmpty, recorded?.hasRoutes ?? true {
            let names = try linkNames()
            left.routes = try ownRoutes().filter { isOurs($0, names) }
            for family in familiesPresent { left.thrown += try socket.thrown(family, table: Reserved.tunnelTable) }
        }
        if installed.guardTable == nil, let listing = try nft?.listing(Reserved.guardTable, withElements: false) {
            left.guardLifetime = normalizedRuleset(listing).contains("flags owner") ? .worker : .persistent
        }
        return left
    }

    /// Removes what an earlier worker left behind; what this object installed stays.
    /// - Parameter keepingGuard: leaves a guard table that is found: a kill switch that is closed stays closed.
    /// - Returns: what was removed, as `ip` would write it.
    /// - Throws: `HostConflict.workerRunning` when the link's owner lives; `NetlinkError`, `FirewallError`.
    @discardableResult
    package func cleanUp(keepingGuard: Bool) throws -> [String] {
        var left = try findLeftovers()
        if let mark = left.link?.alias.flatMap(WorkerMark.init(alias:)), mark.isAlive, mark != WorkerMark.current {
            throw HostConflict.workerRunning(pid: mark.pid)
        }
        if keepingGuard { left.guardLifetime = nil }
        for rule in PlanDiff.installOrder(left.rules).reversed() { try socket.remove(rule) }
        for route in left.routes { try socket.remove(route) }
        try socket.removeThrown(left.thrown, table: Reserved.tunnelTable)
        if left.link != nil { try socket.removeLink(Reserved.link) }
        if left.guardLifetime != nil { try nft?.remove(Reserved.guardTable) }
        if !keepingGuard { try table(Reserved.guardStandIn)?.remove() }
        _ = monitor.drain()
        if !left.descriptions.isEmpty {
            log(.notice, "removed what an earlier worker left", ["count": "\(left.descriptions.count)"])
        }
        var entries = ledgerEntries
        if keepingGuard, installed.guardTable == nil { entries.guardLifetime = try guardLifetimeLeft() }
        try ledger.write(entries)
        return left.descriptions
    }

    private func guardLifetimeLeft() throws -> GuardTable.Lifetime? {
        try nft?.listing(Reserved.guardTable, withElements: false) == nil ? nil : .persistent
    }
}
