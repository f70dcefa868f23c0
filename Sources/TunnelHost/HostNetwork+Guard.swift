// The nft tables on the host: the guard, and what lets domestic destinations pass it.

internal import Addressing
internal import Firewall
internal import Logging
internal import Netlink
internal import NetworkPlan

extension HostNetwork {
    /// A table by its name, in messages of our own; nil when the socket of libnftables could not be found out.
    func table(_ name: String) -> NetfilterTable? { netfilter.map { NetfilterTable($0, name) } }

    /// Puts the guard in place of the one that may be there; at no moment is there none.
    /// - Parameter wasMissing: there was one, and there has been none for a while.
    func setGuard(_ planned: GuardTable, wasMissing: Bool = false) throws {
        guard let nft else { return }
        var table = planned
        let isFirst = installed.guardTable == nil || wasMissing
        if isFirst {
            try trackConnections(nft)
            keepsConnectionsFromBefore = !resetConnectionsFromBefore(table)
        }
        if keepsConnectionsFromBefore { table.refusedReplies = try ephemeralPorts() }
        // The guard has them tracked as well.
        defer { if isFirst { _ = try? nft.remove(Reserved.trackingTable) } }
        if try table.lifetime == .persistent && holdGuard(nft, meanwhile: table.standIn) {
            // What is in it goes in the same transaction: of this worker, or of one that died.
            do { try nft.refill(Reserved.guardTable, with: table.filling) } catch {
                // A table without rules would be no guard: one that root can flush is better.
                log(.warning, "the guard is made in another way", ["error": "\(error)"])
                try nft.replace(Reserved.guardTable, with: table.text)
            }
        } else {
            try nft.replace(Reserved.guardTable, with: table.text)
        }
        try self.table(Reserved.guardStandIn)?.remove()
        // What was opened in between: the guard refuses it, its program learns it now.
        if isFirst { _ = resetConnectionsFromBefore(table) }
        let count = Self.ruleCount(in: try nft.listing(Reserved.guardTable, withElements: false) ?? "")
        guard count == table.ruleCount else {
            throw FirewallError(
                operation: "reading back table", subject: Reserved.guardTable,
                text: "it has \(count) rules instead of \(table.ruleCount)")
        }
        guardMade = try self.table(Reserved.guardTable)?.fingerprint()
        guardOnLink = [:]
        for family in AddressFamily.allCases {
            guardOnLink[family] = try onLinkSet(family)?.fingerprint()
        }
    }

    /// Has the kernel track connections before those that are open are looked for: one that is opened from here on is seen from
    /// its first packet, and does not pass for one that came in from outside when its other side speaks first.
    func trackConnections(_ nft: Nftables) throws { try nft.replace(Reserved.trackingTable, with: GuardTable.tracking) }

    /// Makes the guard's table one that nobody but this process can change or flush, and that outlives it.
    /// - Parameter standIn: guards while a table of the other kind gives way.
    /// - Returns: false where the kernel has no such tables.
    private func holdGuard(_ nft: Nftables, meanwhile standIn: String) throws -> Bool {
        // A table of another owner refuses libnftables as well, whose words say what to do.
        guard let table = table(Reserved.guardTable), let isHeld = try? table.hold() else { return false }
        if isHeld { return true }
        guard try nft.tables().contains(Reserved.guardTable) else { return false }
        try nft.replace(Reserved.guardStandIn, with: standIn)
        return try table.replaceByHeld()
    }

    /// Opens the host.
    func removeGuard() throws {
        try nft?.remove(Reserved.guardTable)
        try table(Reserved.guardStandIn)?.remove()
        guardMade = nil
        guardOnLink = [:]
        keepsConnectionsFromBefore = false
    }

    /// The set of the guard that holds the networks the host is on.
    private func onLinkSet(_ family: AddressFamily) -> NetfilterSet? {
        netfilter.map { NetfilterSet($0, table: Reserved.guardTable, name: GuardTable.onLinkSet(family)) }
    }

    /// Lets these destinations, and no others, pass the guard by choice.
    func acceptDomestic(_ prefixes: [Prefix]) throws {
        guard let nft, let netfilter else {
            throw FirewallError(
                operation: "filling table", subject: Reserved.domesticTable, text: "its socket was not found")
        }
        // libnftables would read every element of the one that is there.
        try refuseDomestic()
        do {
            try nft.replace(Reserved.domesticTable, with: DomesticTable.text)
            for family in AddressFamily.allCases {
                try NetfilterSet(netfilter, table: Reserved.domesticTable, name: DomesticTable.set(family)).add(
                    AddressInterval.covering(prefixes.filter { $0.family == family }))
            }
            domesticMade = try table(Reserved.domesticTable)?.fingerprint()
        } catch {
            try? refuseDomestic()
            throw error
        }
    }

    /// Lets no destination pass the guard by choice.
    func refuseDomestic() throws {
        domesticMade = nil
        try table(Reserved.domesticTable)?.remove()
    }

    /// Compares the tables with what was made. Nobody else can change one that has an owner.
    func guardDrift() throws -> [Drift] {
        guard installed.guardTable != nil, nft != nil else { return [] }
        guard let whole = table(Reserved.guardTable) else {
            return try nft?.tables().contains(Reserved.guardTable) == true ? [] : [.guardMissing]
        }
        guard let seen = try whole.fingerprint() else { return [.guardMissing] }
        guard seen == guardMade else { return [.guardChanged] }
        var drifts: [Drift] = []
        for (family, made) in guardOnLink.sorted(by: { $0.key < $1.key }) {
            if try onLinkSet(family)?.fingerprint() != made {
                drifts.append(.guardSetChanged(GuardTable.onLinkSet(family)))
            }
        }
        if !installed.domestic.isEmpty {
            let seen = try table(Reserved.domesticTable)?.fingerprint()
            if seen == nil || seen != domesticMade { drifts.append(.domesticTableChanged) }
        }
        return drifts
    }

    /// The number of rules of the chain `out` in a listing: its lines but the one that hooks it in.
    private static func ruleCount(in listing: String) -> Int {
        let lines = listing.split(separator: "\n")
        guard let start = lines.firstIndex(where: { $0.hasPrefix("\tchain out {") }) else { return 0 }
        return lines[(start + 1)...].prefix { $0 != "\t}" }.count - 1
    }
}
