// 1.14: a DNS rule that looks at addresses first asks, then answers with what it got.

package import ImportReport
package import JSON

/// `ip_cidr`, `ip_is_private`, `ip_accept_any` and rule-sets of addresses in DNS rules → a rule that evaluates and one that
/// responds. All or nothing: one evaluated rule makes every rule of the old kind fatal.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-address-filter-fields-to-response-matching>.
package struct DNSAddressFilters: Migration {
    package let name = "dns-address-filters"
    package let since = "1.14"

    package init() {}

    private static let filters = [
        "ip_cidr", "ip_is_private", "ip_accept_any", "rule_set_ip_cidr_accept_empty", "rule_set_ip_cidr_match_source",
    ]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        let ruleSets = AddressRuleSets(document, context.holdsAddresses)
        let fake = Set(
            document["dns"]["servers"].listed.filter { $0["type"] == "fakeip" }.compactMap { $0["tag"].string })
        document.expandItems(["dns", "rules"]) { source, at in
            var rule = source
            let acceptsEmpty = Self.removeAcceptEmpty(&rule)
            guard ruleSets.holdsAddressFilter(rule) else {
                if rule != source {
                    changes.append(change("dns.rules[\(at)]", "rule_set_ip_cidr_accept_empty removed"))
                }
                return [rule]
            }
            let new = split(rule, acceptsEmpty, ruleSets, fake)
            changes.append(
                change(
                    "dns.rules[\(at)]",
                    new.isEmpty ? "removed: it never matched" : "address conditions → evaluate, respond"))
            return new
        }
        return changes
    }

    private static func removeAcceptEmpty(_ rule: inout JSON) -> Bool {
        var found = rule.removeMember("rule_set_ip_cidr_accept_empty")?.isSet ?? false
        rule.editItems(["rules"]) { part, _ in
            if removeAcceptEmpty(&part) { found = true }
            return true
        }
        return found
    }

    private func split(_ rule: JSON, _ acceptsEmpty: Bool, _ ruleSets: AddressRuleSets, _ fake: Set<String>) -> [JSON] {
        let action = rule["action"].string ?? "route"
        switch action {
        case "route", "": break
        case "reject":
            // The old engine refused every address query that met the other conditions.
            guard rule["type"] != "logical", rule["invert"] != true else { return [] }
            var refused = relaxed(rule, ruleSets) ?? JSON.object(JSONObject())
            refused["query_type"] = refused["query_type"].isSet ? refused["query_type"] : .array(addressQueries)
            return [refused]
        default: return []
        }
        guard let server = rule["server"].string, !fake.contains(server) else { return [] }
        let types = Self.queryTypes(rule)
        if types.isEmpty { return [] }
        let matchesSource = rule["rule_set_ip_cidr_match_source"].isSet && rule["type"] != "logical"
        let onlySource = matchesSource && !["ip_cidr", "ip_is_private", "ip_accept_any"].contains { rule[$0].isSet }

        var ask = JSONObject()
        var answer = JSONObject()
        if rule["type"] == "logical" || rule["invert"] == true {
            let parts = [relaxed(.object(conditions(rule)), ruleSets)].compactMap { $0 }
            ask = Self.all([["query_type": .array(types)]] + parts)
            answer = Self.all([["query_type": .array(types)], marked(.object(conditions(rule)), ruleSets)])
        } else {
            ask = conditions(relaxed(rule, ruleSets) ?? .null)
            answer = conditions(rule)
            if onlySource, !rule["query_type"].isSet {
                // The source is known for every kind of query, so every kind was matched.
            } else {
                ask["query_type"] = .array(types)
                answer["query_type"] = .array(types)
            }
            answer["match_response"] = true
        }
        for member in (rule.object ?? JSONObject()).members where dnsActionKeys.contains(member.key) {
            ask[member.key] = member.value
        }
        ask["action"] = "evaluate"
        answer["action"] = "respond"
        var rules: [JSON] = [.object(ask), .object(answer)]
        if acceptsEmpty {
            let nothing: JSON = ["match_response": true, "ip_accept_any": true, "invert": true]
            var empty = Self.all([["query_type": .array(types)], nothing])
            empty["action"] = "respond"
            rules.append(.object(empty))
        }
        return rules
    }

    /// The query types the rule was ever tried on: those it names, of those that carry addresses.
    private static func queryTypes(_ rule: JSON) -> [JSON] {
        guard rule["type"] != "logical", rule["invert"] != true, rule["query_type"].isSet else { return addressQueries }
        return rule["query_type"].listed.filter { addressQueries.contains($0) }
    }

    private static func all(_ parts: [JSON]) -> JSONObject {
        guard parts.count > 1 else { return parts.first?.object ?? JSONObject() }
        return JSONObject([("type", "logical"), ("mode", "and"), ("rules", .array(parts))])
    }

    /// The rule without its address conditions: what can be asked before there is an answer. None when that is everything
    /// (spelt out, because a bare `nil` may also mean JSON's null).
    private func relaxed(_ rule: JSON, _ ruleSets: AddressRuleSets) -> JSON? {
        guard ruleSets.holdsAddressFilter(rule) else { return rule }
        if rule["invert"] == true { return Optional.none }
        if rule["type"] == "logical" {
            let parts = rule["rules"].listed.map { relaxed($0, ruleSets) }
            let kept = parts.compactMap { $0 }
            if kept.isEmpty || (rule["mode"] == "or" && kept.count < parts.count) { return Optional.none }
            var result = rule
            result["rules"] = .array(kept)
            return result
        }
        var result = rule
        for key in Self.filters { result.removeMember(key) }
        if ruleSets.namesAddressSet(rule) { result.removeMember("rule_set") }
        if conditions(result).isEmpty, !rule["server"].isSet, rule["action"].isNull { return Optional.none }
        return result
    }

    /// The rule with `match_response` on each part that looks at the answer.
    private func marked(_ rule: JSON, _ ruleSets: AddressRuleSets) -> JSON {
        guard ruleSets.holdsAddressFilter(rule) else { return rule }
        var result = rule
        if rule["type"] == "logical" {
            result["rules"] = .array(rule["rules"].listed.map { marked($0, ruleSets) })
        } else {
            result["match_response"] = true
        }
        return result
    }
}
