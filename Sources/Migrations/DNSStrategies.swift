// 1.12 and 1.14: which address family is answered is no longer a matter of the server or the rule.

package import ImportReport
package import JSON

/// Servers' and rules' `strategy` → `dns.strategy` where all agree; else a rule that answers the unwanted family with
/// nothing, before each rule that had an `…_only` strategy. `prefer_…` cannot be kept there and is dropped.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-dns-rule-action-strategy-to-rule-items>.
package struct DNSStrategies: Migration {
    package let name = "dns-strategies"
    package let since = "1.14"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        let dns = document["dns"]
        let servers = dns["servers"].array ?? []
        let rules = dns["rules"].array ?? []
        let ruled = rules.contains { !$0["strategy"].isNull }
        guard ruled || servers.contains(where: { !$0["strategy"].isNull }) else { return [] }
        var changes: [Change] = []
        for (at, server) in servers.enumerated() where !server["strategy"].isNull {
            changes.append(change("dns.servers[\(at)].strategy", "→ dns.strategy or rules"))
        }
        for (at, rule) in rules.enumerated() where !rule["strategy"].isNull {
            changes.append(change("dns.rules[\(at)].strategy", "→ dns.strategy or rules"))
        }
        let plan = Plan(dns: dns, servers: servers, rules: rules)
        document.editItems(["dns", "servers"]) { server, _ in
            server.removeMember("strategy")
            return true
        }
        if let common = plan.common {
            document.editItems(["dns", "rules"]) { rule, _ in
                rule.removeMember("strategy")
                return true
            }
            if common != (dns["strategy"].string ?? "") { document["dns"]["strategy"] = .string(common) }
            return changes
        }
        let ruleSets = AddressRuleSets(document, context.holdsAddresses)
        document.expandItems(["dns", "rules"]) { rule, _ in
            split(rule, plan.extra(rule), ruleSets)
        }
        if plan.dropsGlobal { document["dns"].removeMember("strategy") }
        if let family = unwanted(plan.extraFinal) {
            let last: JSON = ["query_type": .string(family), "action": "predefined", "rcode": "NOERROR"]
            document["dns"].append([last], to: "rules")
        }
        return changes
    }

    /// What every rule and the default answer with.
    private struct Plan {
        private let own: [String: String]
        private let global: String
        private let skipped: Set<String>
        let final: String
        /// The one strategy of all that is used; nil when they differ.
        private(set) var common: String?
        /// True when `dns.strategy` would be wrong for some rule.
        private(set) var dropsGlobal = false

        init(dns: JSON, servers: [JSON], rules: [JSON]) {
            var own: [String: String] = [:]
            var skipped: Set<String> = []
            for server in servers {
                guard let tag = server["tag"].string else { continue }
                if let strategy = server["strategy"].string, !strategy.isEmpty { own[tag] = strategy }
                if server["type"] == "fakeip", !server["inet6_range"].isSet { skipped.insert(tag) }
            }
            self.own = own
            self.skipped = skipped
            global = dns["strategy"].string ?? ""
            let last = dns["final"].string ?? servers.first?["tag"].string ?? ""
            final = own[last] ?? global
            var used = servers.isEmpty || skipped.contains(last) ? [] : Set([final])
            for rule in rules {
                guard let server = askedServer(rule), !skipped.contains(server) else { continue }
                used.insert(effective(rule))
            }
            let setsOptions = rules.contains { $0["action"] == "route-options" && $0["strategy"].isSet }
            if used.count == 1, !setsOptions { common = used.first }
            dropsGlobal = common == nil && global.hasSuffix("_only") && used.contains { $0 != global }
        }

        func effective(_ rule: JSON) -> String {
            if let strategy = rule["strategy"].string, !strategy.isEmpty { return strategy }
            return rule["server"].string.flatMap { own[$0] } ?? global
        }

        /// The same for what no rule takes.
        var extraFinal: String { final == global && !dropsGlobal ? "" : final }

        /// The strategy a rule needs a rule of its own for; empty when the document's own already does it.
        func extra(_ rule: JSON) -> String {
            let effective = effective(rule)
            return effective == global && !dropsGlobal ? "" : effective
        }
    }

    private func unwanted(_ strategy: String) -> String? {
        switch strategy {
        case "ipv4_only": "AAAA"
        case "ipv6_only": "A"
        default: nil
        }
    }

    private func split(_ source: JSON, _ strategy: String, _ ruleSets: AddressRuleSets) -> [JSON] {
        var rule = source
        rule.removeMember("strategy")
        let setsOptions = rule["action"] == "route-options"
        guard askedServer(source) != nil || setsOptions, let family = unwanted(strategy) else { return [rule] }
        let types = rule["query_type"].listed
        if !types.isEmpty, rule["type"] != "logical", !types.contains(.string(family)) { return [rule] }
        if ruleSets.holdsAddressFilter(rule) {
            // The unwanted family got nothing from this server, which never matched the addresses: the next rule's turn.
            if rule["type"] != "logical", rule["invert"] != true {
                let kept = (types.isEmpty ? addressQueries : types).filter { $0 != .string(family) }
                rule["query_type"] = .array(kept)
            }
            return [rule]
        }
        var copy: JSONObject
        if rule["type"] == "logical" || rule["invert"] == true {
            copy = JSONObject([
                ("type", "logical"), ("mode", "and"),
                ("rules", .array([["query_type": .string(family)], .object(conditions(rule))])),
            ])
        } else {
            copy = conditions(rule)
            copy["query_type"] = .string(family)
        }
        copy["action"] = "predefined"
        copy["rcode"] = "NOERROR"
        return [.object(copy), rule]
    }
}
