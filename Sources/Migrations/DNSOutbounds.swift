// 1.11: the `dns` outbound is a rule action.

package import ImportReport
package import JSON

/// Outbounds of type `dns` go; rules to them get `action: hijack-dns`.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-legacy-special-outbounds-to-rule-actions>.
package struct DNSOutbounds: Migration {
    package let name = "dns-outbounds"
    package let since = "1.11"

    package init() {}

    private static let routeOptions = [
        "outbound", "override_address", "override_port", "network_strategy", "fallback_delay",
        "udp_disable_domain_unmapping", "udp_connect", "udp_timeout",
    ]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var gone: Set<String> = []
        document.editItems(["outbounds"]) { outbound, at in
            guard outbound["type"].string == "dns" else { return true }
            if let tag = outbound["tag"].string { gone.insert(tag) }
            changes.append(change("outbounds[\(at)]", "dns outbound removed"))
            return false
        }
        guard !gone.isEmpty else { return changes }
        // A group of nothing but such outbounds is one itself; nested deeper than this nobody writes it.
        for _ in 0..<4 {
            let before = gone.count
            for outbound in document["outbounds"].listed {
                let members = outbound["outbounds"].listed.compactMap(\.string)
                if let tag = outbound["tag"].string, !members.isEmpty, members.allSatisfy(gone.contains) {
                    gone.insert(tag)
                }
            }
            if gone.count == before { break }
        }
        document.editItems(["outbounds"]) { outbound, _ in outbound["tag"].string.map { !gone.contains($0) } ?? true }
        forget(gone, in: &document)
        document.editItems(["route", "rules"]) { rule, at in
            guard let outbound = rule["outbound"].string, gone.contains(outbound) else { return true }
            for key in Self.routeOptions { rule.removeMember(key) }
            rule["action"] = "hijack-dns"
            changes.append(change("route.rules[\(at)]", "outbound \(outbound) → action hijack-dns"))
            return true
        }
        if let final = document["route"]["final"].string, gone.contains(final) {
            document["route"].removeMember("final")
            document["route"].append([["action": "hijack-dns"]], to: "rules")
            changes.append(change("route.final", "→ last rule with action hijack-dns"))
        }
        return changes
    }
}
