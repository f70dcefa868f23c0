// Reading the plan back from the kernel, and putting back what others removed.

internal import Addressing
internal import Firewall
internal import Logging
internal import Netlink
internal import NetworkPlan

/// What a repair found and did.
package struct Repair: Hashable, Sendable {
    /// What was wrong and has been put right.
    package var drifts: [Drift] = []
    /// True when the link had to be made anew: the inside of the sandbox has to be wired again.
    package var needsWiring = false
}

extension HostNetwork {
    /// Compares the installed plan with what the kernel says. Empty means that both are the same.
    /// - Throws: `NetlinkError`, `FirewallError`.
    package func verify() throws -> [Drift] {
        try guardDrift() + linkDrift() + routeDrift() + ruleDrift()
    }

    private func guardDrift() throws -> [Drift] {
        guard installed.guardTable != nil, let nft else { return [] }
        guard let listing = try nft.listing(Reserved.guardTable) else { return [.guardMissing] }
        return normalizedRuleset(listing) == guardListing ? [] : [.guardChanged]
    }

    private func linkDrift() throws -> [Drift] {
        guard let plan = installed.link else { return [] }
        guard let link = try socket.link(named: plan.name), link.hardwareAddress == plan.hardwareAddress else {
            return [.linkMissing(plan.name)]
        }
        let present = Set(try socket.addresses().filter { $0.index == link.index }.map(\.address))
        let missing = plan.addresses.filter { !present.contains($0.address) }
        return (link.isUp && link.mtu == plan.mtu ? [] : [.linkChanged(plan.name)])
            + missing.map { .addressMissing($0) }
    }

    private func routeDrift() throws -> [Drift] {
        guard !installed.routes.isEmpty else { return [] }
        let names = try linkNames()
        let wanted = Set(installed.routes)
        var found: Set<Route> = []
        var foreign: [Drift] = []
        for record in try ownRoutes() {
            if let route = record.planned(names: names), wanted.contains(route) {
                found.insert(route)
            } else {
                let text = record.planned(names: names)?.description ?? record.destination.description
                foreign.append(.routeForeign(record.table, text))
            }
        }
        let missing = installed.routes.filter { !found.contains($0) }
        return foreign + (missing.isEmpty ? [] : [.routesMissing(missing)])
    }

    /// Everything in our tables.
    func ownRoutes() throws(NetlinkError) -> [RouteRecord] {
        var all: [RouteRecord] = []
        for family in familiesPresent {
            for table in Self.ownTables { all += try socket.routes(family, table: table) }
        }
        return all
    }

    private func ruleDrift() throws -> [Drift] {
        guard !installed.rules.isEmpty else { return [] }
        var present: Set<RoutingRule> = []
        for family in familiesPresent { present.formUnion(try socket.rules(family).compactMap(\.planned)) }
        return PlanDiff.installOrder(installed.rules.filter { !present.contains($0) }).map { .ruleMissing($0) }
    }

    /// Puts back what is missing and takes away what others put into our tables.
    /// - Throws: `NetlinkError`, `FirewallError`, `ReadBackError` when it does not hold.
    package func repair() throws -> Repair {
        let drifts = try verify()
        guard !drifts.isEmpty else { return Repair() }
        var repair = Repair(drifts: drifts)
        for drift in drifts { log(.warning, "repairing", ["drift": drift.description]) }
        if drifts.contains(.guardMissing) || drifts.contains(.guardChanged), let table = installed.guardTable {
            try perform(.setGuard(table))
        }
        repair.needsWiring = try repairLink(drifts)
        try repairRoutes()
        for case .ruleMissing(let rule) in drifts { try socket.add(rule) }
        _ = monitor.drain()
        let rest = try verify()
        guard rest.isEmpty else { throw ReadBackError(drifts: rest) }
        return repair
    }

    /// Returns true when the link was made anew.
    private func repairLink(_ drifts: [Drift]) throws -> Bool {
        guard let plan = installed.link else { return false }
        if drifts.contains(.linkMissing(plan.name)) {
            try socket.removeLink(plan.name)
            try perform(.addLink(plan))
            // The resolver knew the link that is gone.
            if dnsIsSet { try protectDNS() }
            return true
        }
        guard let link = try socket.link(named: plan.name) else { return false }
        if drifts.contains(.linkChanged(plan.name)) { try socket.setLink(link.index, up: true, mtu: plan.mtu) }
        // Where it is off, its address would be refused; where it was off, it comes back as the host has it for new links.
        try setIPv6(of: plan.name)
        for address in plan.addresses { try socket.add(address, to: link.index) }
        return false
    }

    private func repairRoutes() throws {
        let names = try linkNames()
        let wanted = Set(installed.routes)
        for record in try ownRoutes() where !(record.planned(names: names).map(wanted.contains) ?? false) {
            try socket.remove(record)
        }
        try socket.add(installed.routes, links: try socket.linkTable())
    }
}
