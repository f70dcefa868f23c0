// What is seen on the host before anything is changed: whether the tunnel can be had, and with which addresses.

package import Addressing
package import Firewall
internal import Linux
internal import Logging
internal import Netlink
package import NetworkPlan

/// What was seen on the host.
package struct HostSurvey {
    /// Addresses for the link that nothing on the host uses.
    package let addresses: LinkAddresses
    /// The networks the host is on.
    package let onLink: OnLinkPrefixes
    /// Whether nft can be used.
    package let firewall: FirewallAvailability
    /// False when the kernel runs without IPv6.
    package let hasIPv6: Bool
    /// Other VPN clients whose rules were seen.
    package let otherClients: [OtherClient]
    /// What an earlier worker left behind, as `ip` would write it; `cleanUp` removes it.
    package let leftovers: [String]
    /// The lifetime of a guard table that was left behind: `persistent` means that a kill switch is still closed.
    package let guardLeft: GuardTable.Lifetime?
    /// Why the ledger cannot be used, if so.
    package let ledgerProblem: LedgerError?

    /// The request for a tunnel on this host.
    /// - Parameters:
    ///   - engine: the user the engine runs as.
    ///   - killSwitch: whether the guard outlives the worker.
    ///   - sandboxHasNft: whether the sandbox can redirect; else the TUN carries all and the link gets a large MTU.
    package func request(engine: UserID, killSwitch: Bool, sandboxHasNft: Bool) -> HostPlanRequest {
        HostPlanRequest(
            engine: engine, addresses: addresses, onLink: onLink.accepted,
            guardLifetime: firewall.isAvailable ? (killSwitch ? .persistent : .worker) : nil, hasIPv6: hasIPv6,
            mtu: sandboxHasNft ? HostPlanRequest.ordinaryMTU : HostPlanRequest.tunOnlyMTU)
    }
}

extension HostNetwork {
    /// Looks at the host without changing anything.
    /// - Throws: `HostConflict` when something else holds what the tunnel needs; `NetlinkError`.
    package func survey() throws -> HostSurvey {
        var ledgerProblem: LedgerError?
        do { _ = try ledger.read() } catch let error as LedgerError {
            log(.error, error.description)
            ledgerProblem = error
        }
        let families = familiesPresent
        let rules = try families.flatMap { family throws(NetlinkError) in try socket.rules(family) }
        let routes = try families.flatMap { family throws(NetlinkError) in try socket.routes(family) }
        let left = try findLeftovers()
        try refuseForeign(rules: rules, routes: routes)

        let ownLink = try socket.link(named: Reserved.link)?.index
        let used = routes.filter { !Self.ownTables.contains($0.table) && ($0.link == nil || $0.link != ownLink) }
        guard let addresses = request?.addresses ?? LinkAddresses.select(avoiding: used.map(\.destination)) else {
            throw HostConflict.noFreeAddresses
        }
        return HostSurvey(
            addresses: addresses, onLink: try onLinkPrefixes(), firewall: checkFirewall(),
            hasIPv6: families.contains(.ipv6), otherClients: OtherClient.seen(in: rules),
            leftovers: left.descriptions, guardLeft: left.guardLifetime, ledgerProblem: ledgerProblem)
    }

    /// Throws when a rule, route or link with our numbers is neither ours nor left behind by us.
    private func refuseForeign(rules: [RuleRecord], routes: [RouteRecord]) throws {
        if let link = try socket.link(named: Reserved.link), installed.link == nil {
            guard link.kind == "veth", link.hardwareAddress == Reserved.linkHardwareAddress else {
                throw HostConflict.linkTaken(Reserved.link, kind: link.kind ?? "hardware")
            }
            if let mark = link.alias.flatMap(WorkerMark.init(alias:)), mark.isAlive, mark != WorkerMark.current {
                throw HostConflict.workerRunning(pid: mark.pid)
            }
        }
        for rule in rules where Reserved.priorities.contains(rule.priority) && !(rule.planned?.isOfOurShape ?? false) {
            throw HostConflict.priorityTaken(rule.priority, rule.family)
        }
        let names = try linkNames()
        for route in routes where Self.ownTables.contains(route.table) && !isOurs(route, names) {
            let text = route.planned(names: names)?.description ?? route.destination.description
            throw HostConflict.tableTaken(route.table, route: text)
        }
    }

    /// Routes of ours lead by our link or nowhere.
    func isOurs(_ route: RouteRecord, _ names: [InterfaceIndex: InterfaceName]) -> Bool {
        guard let planned = route.planned(names: names) else { return false }
        switch planned.target {
        case .gateway(_, let link), .device(let link), .local(let link): return link == Reserved.link
        case .thrown, .unreachable: return true
        }
    }

    static let ownTables: Set<RouteTable> = [Reserved.tunnelTable, Reserved.dnsTable]

    /// The families the kernel runs with.
    var familiesPresent: [AddressFamily] { Self.hasIPv6 ? [.ipv4, .ipv6] : [.ipv4] }

    /// Where that cannot be found out it counts as there: nothing goes around the tunnel for want of a look.
    private static var hasIPv6: Bool {
        do { return try KernelFile.read("/proc/sys/net/ipv6/conf/all/forwarding") != nil } catch { return true }
    }

    /// The names of links by index.
    func linkNames() throws(NetlinkError) -> [InterfaceIndex: InterfaceName] {
        Dictionary(try socket.linkTable().map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
    }

    /// The networks the host is on, from its addresses.
    func onLinkPrefixes() throws(NetlinkError) -> OnLinkPrefixes {
        let names = try linkNames()
        return OnLinkPrefixes(
            try socket.addresses().compactMap { address in
                names[address.index].map { ObservedAddress(interface: $0, prefix: address.prefix) }
            })
    }

    /// Whether the kernel takes a guard; nothing is changed. One that has taken one is not asked again: it takes 9 ms.
    package func checkFirewall() -> FirewallAvailability {
        guard let nft else { return firewallAbsence }
        guard !takesGuard else { return .available }
        let sample = GuardTable(engine: UserID(rawValue: 1), onLink: [], lifetime: .worker).text
        // Another name, for the real table may have an owner.
        let found = nft.check("table inet \(Reserved.guardTable)_check {" + sample.drop { $0 != "\n" })
        takesGuard = found.isAvailable
        return found
    }
}
