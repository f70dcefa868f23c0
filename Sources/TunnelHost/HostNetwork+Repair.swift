// Reading the plan back from the kernel, and putting back what others removed.

internal import Addressing
internal import Logging
internal import Netlink
internal import NetworkPlan

/// What a repair found and did.
package struct Repair: Hashable, Sendable {
    /// What was wrong and has been put right.
    package var drifts: [Drift] = []
    /// True when the link had to be made anew: the inside of the sandbox has to be wired again.
    package var needsWiring = false

    /// Takes in what was found and done afterwards.
    mutating func add(_ later: Repair) {
        drifts += later.drifts
        needsWiring = needsWiring || later.needsWiring
    }
}

extension HostNetwork {
    /// Compares the installed plan with what the kernel says. Empty means that both are the same.
    /// - Parameter withDomestic: whether to compare thousands of domestic prefixes, too. Changes to them are heard of, so
    ///   there is no need to whenever somebody asks for the state.
    /// - Throws: `NetlinkError`, `FirewallError`.
    package func verify(withDomestic: Bool = true) throws -> [Drift] {
        try guardDrift() + linkDrift() + routeDrift(withDomestic) + ruleDrift()
    }

    private func linkDrift() throws -> [Drift] {
        guard let plan = installed.link else { return [] }
        guard let link = try socket.link(named: plan.name), link.hardwareAddress == plan.hardwareAddress else {
            return [.linkMissing(plan.name)]
        }
        let present = Set(try socket.addresses().filter { $0.index == link.index }.map(\.address))
        let missing = plan.addresses.filter { !present.contains($0.address) }
        return (link.isUp && link.mtu == plan.mtu ? [] : [.linkChanged(plan.name)])
            + (link.master == nil ? [] : [.linkEnslaved(plan.name)]) + missing.map { .addressMissing($0) }
    }

    private func routeDrift(_ withDomestic: Bool) throws -> [Drift] {
        guard !installed.routes.isEmpty else { return [] }
        var thrown: [Drift] = []
        let names = try linkNames()
        // The short look is shown ways out only.
        let expected = installed.routes.filter { withDomestic || $0.link != nil }
        let wanted = Set(expected)
        var found: Set<Route> = []
        var foreign: [Drift] = []
        for family in familiesPresent {
            for table in Self.ownTables {
                let contents = try socket.contents(family, table: table, withThrown: withDomestic)
                for record in contents.routes {
                    if let route = record.planned(names: names), wanted.contains(route) {
                        found.insert(route)
                    } else {
                        let text = record.planned(names: names)?.description ?? record.destination.description
                        foreign.append(.routeForeign(record.table, text))
                    }
                }
                guard let seen = contents.thrown else { continue }
                if seen != Fingerprint(thrown: domestic(family, table)) {
                    thrown.append(.domesticRoutesChanged(family, table))
                }
            }
        }
        let missing = expected.filter { !found.contains($0) }
        return foreign + (missing.isEmpty ? [] : [.routesMissing(missing)]) + thrown
    }

    /// What a table of ours is to throw.
    private func domestic(_ family: AddressFamily, _ table: RouteTable) -> [Prefix] {
        table == Reserved.tunnelTable ? installed.domestic.filter { $0.family == family } : []
    }

    /// Everything in our tables but the routes that throw.
    func ownRoutes() throws(NetlinkError) -> [RouteRecord] {
        var all: [RouteRecord] = []
        for family in familiesPresent {
            for table in Self.ownTables { all += try socket.contents(family, table: table, withThrown: true).routes }
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
    /// - Parameter withDomestic: as for `verify`.
    package func repair(withDomestic: Bool = true) throws -> Repair {
        let drifts = try verify(withDomestic: withDomestic)
        guard !drifts.isEmpty else { return told(Repair()) }
        for drift in drifts { log(.warning, "repairing", ["drift": drift.description]) }
        if drifts.contains(where: \.isOfGuard), let table = installed.guardTable {
            try setGuard(table, wasMissing: drifts.contains(.guardMissing))
        }
        if drifts.contains(.domesticTableChanged) { try perform(.acceptDomestic(installed.domestic)) }
        try repairLink(drifts)
        try repairRoutes(withDomestic)
        for case .ruleMissing(let rule) in drifts { try socket.add(rule) }
        takeNewsOfOwnChanges()
        let rest = try verify(withDomestic: withDomestic)
        guard rest.isEmpty else { throw ReadBackError(drifts: rest) }
        return told(Repair(drifts: drifts))
    }

    /// With what an earlier repair did that did not come to its end.
    private func told(_ repair: Repair) -> Repair {
        defer { owesWiring = false }
        return Repair(drifts: repair.drifts, needsWiring: owesWiring)
    }

    /// Somebody may have given ours another name, or its name to another.
    private func removeLinkUnderAnyName(_ plan: LinkPlan) throws {
        for link in try socket.links() where link.kind == "veth" && link.hardwareAddress == plan.hardwareAddress {
            if let name = InterfaceName(link.name) { try socket.removeLink(name) }
        }
        try socket.removeLink(plan.name)
    }

    private func repairLink(_ drifts: [Drift]) throws {
        guard let plan = installed.link else { return }
        if drifts.contains(.linkMissing(plan.name)) {
            // From here on, whatever fails behind it.
            owesWiring = true
            try removeLinkUnderAnyName(plan)
            try perform(.addLink(plan))
            // The resolver knew the link that is gone.
            if dnsIsSet { try protectDNS() }
            return
        }
        guard let link = try socket.link(named: plan.name) else { return }
        // A bond leaves what it gives back down.
        if link.master != nil { try socket.freeLink(link.index) }
        if drifts.contains(.linkChanged(plan.name)) || link.master != nil {
            try socket.setLink(link.index, up: true, mtu: plan.mtu)
        }
        // Where it is off, its address would be refused; where it was off, it comes back as the host has it for new links.
        try setIPv6(of: plan.name)
        for address in plan.addresses { try socket.add(address, to: link.index) }
        for neighbour in plan.neighbours { try socket.set(neighbour, on: link.index) }
    }

    private func repairRoutes(_ withDomestic: Bool) throws {
        let names = try linkNames()
        let wanted = Set(installed.routes)
        for record in try ownRoutes() where !(record.planned(names: names).map(wanted.contains) ?? false) {
            try socket.remove(record)
        }
        try socket.add(installed.routes, links: try socket.linkTable())
        guard withDomestic else { return }
        for family in familiesPresent {
            for table in Self.ownTables {
                let wanted = domestic(family, table)
                let present = try socket.thrown(family, table: table)
                let wantedSet = Set(wanted)
                // One that is there twice, at two metrics, goes with all others.
                let isTwice = Set(present).count != present.count
                let surplus = isTwice ? present : present.filter { !wantedSet.contains($0) }
                try socket.removeThrown(surplus, table: table)
                if isTwice || Set(present) != wantedSet { try socket.addThrown(wanted, table: table) }
            }
        }
    }
}
