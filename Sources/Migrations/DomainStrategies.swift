// 1.12: how a node's name is resolved is part of its resolver.

package import ImportReport
package import JSON

/// `domain_strategy` of outbounds, endpoints and ntp → `domain_resolver.strategy`. For an address and behind a detour it
/// never did anything.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-domain-strategy-options>.
package struct DomainStrategies: Migration {
    package let name = "domain-strategies"
    package let since = "1.12"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        let needsResolver =
            (document["outbounds"].listed + document["endpoints"].listed + [document["ntp"]]).contains(where: Self.acts)
        let resolver = needsResolver ? resolverForDialers(&document) : .null
        let empty = emptyDirects(document)
        for section in ["outbounds", "endpoints"] {
            document.editItems([section]) { item, at in
                rewrite(&item, "\(section)[\(at)]", resolver, empty, &changes)
                return true
            }
        }
        document.edit("ntp") { rewrite(&$0, "ntp", resolver, empty, &changes) }
        // The resolver may have been made just now.
        if needsResolver { changes.append(contentsOf: DefaultResolver().repairServers(&document)) }
        return changes
    }

    /// True when the strategy has any effect: something to resolve, here and not at the far end.
    private static func acts(_ dialer: JSON) -> Bool {
        guard dialer["domain_strategy"].isSet else { return false }
        if dialer["type"] == "direct" { return true }
        return hosts(dialer).contains { !isAddress($0) }
    }

    private static func hosts(_ dialer: JSON) -> [String] {
        ([dialer["server"]] + dialer["peers"].listed.map { $0["address"] }).compactMap(\.string).filter { !$0.isEmpty }
    }

    private func rewrite(
        _ dialer: inout JSON, _ place: String, _ resolver: JSON, _ empty: Set<String>, _ changes: inout [Change]
    ) {
        let acts = Self.acts(dialer)
        guard let strategy = dialer.removeMember("domain_strategy") else { return }
        changes.append(change(place + ".domain_strategy", "→ domain_resolver"))
        let detour = dialer["detour"].string ?? ""
        guard acts, detour.isEmpty || empty.contains(detour) else { return }
        var own: JSON
        switch dialer["domain_resolver"] {
        case .object(let object): own = .object(object)
        case .string(let tag) where !tag.isEmpty: own = ["server": .string(tag)]
        default: own = resolver
        }
        if !own["strategy"].isSet || !dialer["domain_resolver"].isSet { own["strategy"] = strategy }
        dialer["domain_resolver"] = own
    }
}
