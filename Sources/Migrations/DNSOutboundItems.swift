// 1.12: which resolver finds a node's address is said at the node, not in a DNS rule.

package import ImportReport
package import JSON

/// DNS rules with `outbound` → `route.default_domain_resolver` (for `any`) and `domain_resolver` of the outbounds named.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-outbound-dns-rule-items-to-domain-resolver>.
package struct DNSOutboundItems: Migration {
    package let name = "dns-outbound-items"
    package let since = "1.12"

    package init() {}

    private static let kept = ["strategy", "disable_cache", "rewrite_ttl", "client_subnet"]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var found = Found()
        let servers = Dictionary(
            document["dns"]["servers"].listed.compactMap { server in server["tag"].string.map { ($0, server) } },
            uniquingKeysWith: { first, _ in first })
        document.editItems(["dns", "rules"]) { rule, at in
            guard Self.mentions(rule) else { return true }
            let resolver = Self.resolver(rule, servers)
            let stays = take(&rule, resolver, &found)
            changes.append(change("dns.rules[\(at)].outbound", "→ domain_resolver"))
            return stays
        }
        guard !changes.isEmpty else { return [] }
        if let any = found.any, !document["route"]["default_domain_resolver"].isSet {
            document["route"]["default_domain_resolver"] = any
        }
        for section in ["outbounds", "endpoints"] {
            document.editItems([section]) { outbound, _ in
                guard let tag = outbound["tag"].string, let resolver = found.byTag[tag] else { return true }
                // Groups and block have no dialer; behind a detour the name is resolved at the far end.
                let none = ["selector", "urltest", "block", "dns"].contains(outbound["type"].string ?? "")
                if !none, !outbound["detour"].isSet, !outbound["domain_resolver"].isSet {
                    outbound["domain_resolver"] = resolver
                }
                return true
            }
        }
        return changes
    }

    private struct Found {
        var any: JSON?
        var byTag: [String: JSON] = [:]
    }

    private static func mentions(_ rule: JSON) -> Bool {
        rule["outbound"].isSet || rule["rules"].listed.contains { mentions($0) }
    }

    /// - Returns: false when nothing is left that the rule could match, or its meaning would turn.
    private func take(_ rule: inout JSON, _ resolver: JSON?, _ found: inout Found) -> Bool {
        if rule["type"] == "logical" {
            var lost = false
            rule.editItems(["rules"]) { part, _ in
                guard Self.mentions(part) else { return true }
                let stays = take(&part, resolver, &found)
                if !stays { lost = true }
                return stays
            }
            if lost, rule["mode"] == "and" || rule["invert"] == true { return false }
            return rule["rules"].isSet
        }
        for name in rule["outbound"].listed.compactMap(\.string) {
            if name == "any" {
                if found.any == nil { found.any = resolver }
            } else if found.byTag[name] == nil {
                found.byTag[name] = resolver
            }
        }
        return false
    }

    private static func resolver(_ rule: JSON, _ servers: [String: JSON]) -> JSON? {
        guard let tag = rule["server"].string, let server = servers[tag] else { return nil }
        if server["address"].string?.lowercased().hasPrefix("rcode:") == true { return nil }
        if server["type"] == "fakeip" { return nil }
        var resolver = JSONObject([("server", .string(tag))])
        for key in kept {
            let value = rule[key].isSet ? rule[key] : server[key]
            if value.isSet, key == "strategy" || key == "client_subnet" || rule[key].isSet { resolver[key] = value }
        }
        return resolver.count == 1 ? .string(tag) : .object(resolver)
    }
}
