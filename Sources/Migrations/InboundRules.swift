// 1.11: sniffing and resolving move from inbounds to the front of the route rules.

package import ImportReport
package import JSON

/// Inbound `sniff`, `sniff_timeout`, `domain_strategy`, `udp_disable_domain_unmapping` become route rules. The sniff rules
/// stand before the resolve rules, because that is the order the old engine worked in.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-legacy-inbound-fields-to-rule-actions>.
package struct InboundRules: Migration {
    package let name = "inbound-rules"
    package let since = "1.11"

    package init() {}

    private static let fields = [
        "sniff", "sniff_timeout", "sniff_override_destination", "domain_strategy", "udp_disable_domain_unmapping",
    ]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        let inbounds = document["inbounds"].array ?? []
        guard inbounds.contains(where: { inbound in Self.fields.contains { !inbound[$0].isNull } }) else { return [] }
        var changes: [Change] = []
        let needTags = inbounds.contains { inbound in Self.fields.contains { inbound[$0].isSet } }
        var used = Set(inbounds.compactMap { $0["tag"].string })
        var sniff = RuleGroups()
        var resolve = RuleGroups()
        var options = RuleGroups()
        document.editItems(["inbounds"]) { inbound, at in
            guard inbound.object != nil else { return true }
            let place = "inbounds[\(at)]"
            if needTags, (inbound["tag"].string ?? "").isEmpty {
                let tag = Self.tag(for: inbound["type"].string ?? "", used: &used)
                inbound["tag"] = .string(tag)
                changes.append(change(place, "tag \(tag) given"))
            }
            let tag = inbound["tag"]
            if inbound["sniff"].isSet {
                var action: JSONObject = JSONObject([("action", "sniff")])
                if inbound["sniff_timeout"].isSet { action["timeout"] = inbound["sniff_timeout"] }
                sniff.add(tag, action)
            }
            if inbound["domain_strategy"].isSet {
                resolve.add(tag, JSONObject([("action", "resolve"), ("strategy", inbound["domain_strategy"])]))
            }
            if inbound["udp_disable_domain_unmapping"].isSet {
                options.add(
                    tag, JSONObject([("action", "route-options"), ("udp_disable_domain_unmapping", true)]))
            }
            if inbound["sniff_override_destination"].isSet {
                changes.append(
                    change(
                        place + ".sniff_override_destination",
                        "lost: rules still see the name, the proxy is asked for the address"))
            }
            for field in Self.fields where inbound.removeMember(field) != nil {
                changes.append(change(place + "." + field, "→ route rule"))
            }
            return true
        }
        let rules = sniff.rules + resolve.rules + options.rules
        if !rules.isEmpty { document["route"]["rules"] = .array(rules + (document["route"]["rules"].array ?? [])) }
        return changes
    }

    private static func tag(for type: String, used: inout Set<String>) -> String {
        let base = (type.isEmpty ? "inbound" : type) + "-in"
        if used.insert(base).inserted { return base }
        var number = 2
        while !used.insert("\(base)-\(number)").inserted { number += 1 }
        return "\(base)-\(number)"
    }

    /// Inbounds with the same action share a rule.
    private struct RuleGroups {
        private var order: [JSONObject] = []
        private var tags: [JSONObject: [JSON]] = [:]

        mutating func add(_ tag: JSON, _ action: JSONObject) {
            if tags[action] == nil { order.append(action) }
            tags[action, default: []].append(tag)
        }

        var rules: [JSON] {
            order.map { action in
                var rule = JSONObject([("inbound", JSON.listable(tags[action] ?? []))])
                for member in action.members { rule[member.key] = member.value }
                return .object(rule)
            }
        }
    }
}
