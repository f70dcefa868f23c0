// 1.12: two ECH options do nothing and are refused.

package import ImportReport
package import JSON

/// `pq_signature_schemes_enabled` and `dynamic_record_sizing_disabled` go from every `tls.ech`.
package struct LegacyECH: Migration {
    package let name = "legacy-ech"
    package let since = "1.12"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        for section in ["inbounds", "outbounds"] {
            document.editItems([section]) { item, at in
                item.edit("tls") { tls in
                    tls.edit("ech") { ech in
                        for key in ["pq_signature_schemes_enabled", "dynamic_record_sizing_disabled"]
                        where ech.removeMember(key) != nil {
                            changes.append(change("\(section)[\(at)].tls.ech.\(key)", "removed: it has no effect"))
                        }
                    }
                }
                return true
            }
        }
        return changes
    }
}
