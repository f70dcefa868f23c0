// 1.10: one rule item changes its spelling.

package import ImportReport
package import JSON

/// `rule_set_ipcidr_match_source` → `rule_set_ip_cidr_match_source`, in route and DNS rules, nested ones included.
package struct SourceMatchName: Migration {
    package let name = "source-match-name"
    package let since = "1.10"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        for section in ["route", "dns"] {
            document.editItems([section, "rules"]) { rule, at in
                rename(&rule, place: "\(section).rules[\(at)]", changes: &changes)
                return true
            }
        }
        return changes
    }

    private func rename(_ rule: inout JSON, place: String, changes: inout [Change]) {
        if let value = rule.removeMember("rule_set_ipcidr_match_source") {
            if rule["rule_set_ip_cidr_match_source"].isNull { rule["rule_set_ip_cidr_match_source"] = value }
            changes.append(change(place + ".rule_set_ipcidr_match_source", "→ rule_set_ip_cidr_match_source"))
        }
        rule.editItems(["rules"]) { part, at in
            rename(&part, place: "\(place).rules[\(at)]", changes: &changes)
            return true
        }
    }
}
