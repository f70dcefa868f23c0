// 1.11: overriding a destination is an option of the rule, not of the direct outbound.

package import ImportReport
package import JSON

/// Direct `override_address`, `override_port` move onto every rule that routes there; for the default outbound a last rule
/// carries them. Through a group they are lost.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-destination-override-fields-to-route-options>.
package struct DirectOverrides: Migration {
    package let name = "direct-overrides"
    package let since = "1.11"

    package init() {}

    private static let fields = ["override_address", "override_port"]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var overrides: [String: JSONObject] = [:]
        let byDefault = defaultOutbound(document)
        document.editItems(["outbounds"]) { outbound, at in
            guard outbound["type"].string == "direct" else { return true }
            var override = JSONObject()
            for field in Self.fields {
                guard let value = outbound.removeMember(field) else { continue }
                if value.isSet { override[field] = value }
                changes.append(change("outbounds[\(at)].\(field)", "→ option of the rules that route here"))
            }
            if !override.isEmpty, let tag = outbound["tag"].string { overrides[tag] = override }
            return true
        }
        guard !overrides.isEmpty else { return changes }
        document.editItems(["route", "rules"]) { rule, _ in
            guard let tag = rule["outbound"].string, let override = overrides[tag] else { return true }
            for member in override.members where rule[member.key].isNull { rule[member.key] = member.value }
            return true
        }
        if let byDefault, let override = overrides[byDefault] {
            var rule = JSONObject([("outbound", .string(byDefault))])
            for member in override.members { rule[member.key] = member.value }
            document["route"].append([.object(rule)], to: "rules")
        }
        for (at, outbound) in document["outbounds"].listed.enumerated() {
            for member in outbound["outbounds"].listed {
                guard let tag = member.string, overrides[tag] != nil else { continue }
                changes.append(change("outbounds[\(at)]", "the override of \(tag) is lost through this group"))
            }
        }
        return changes
    }
}
