// 1.10: the address fields of a TUN inbound are one list for both families.

package import ImportReport
package import JSON

/// `inet4_address` + `inet6_address` → `address`, and the same for the two route lists.
/// Source: <https://sing-box.sagernet.org/migration/#tun-address-fields-are-merged>.
package struct TunAddresses: Migration {
    package let name = "tun-addresses"
    package let since = "1.10"

    package init() {}

    private static let merged = ["address", "route_address", "route_exclude_address"]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        document.editItems(["inbounds"]) { inbound, at in
            guard inbound["type"].string == "tun" else { return true }
            for target in Self.merged {
                let old = ["inet4_" + target, "inet6_" + target]
                guard old.contains(where: { !inbound[$0].isNull }) else {
                    for key in old { inbound.removeMember(key) }
                    continue
                }
                let all = inbound[target].listed + old.flatMap { inbound[$0].listed }
                for key in old where inbound.removeMember(key) != nil {
                    changes.append(change("inbounds[\(at)].\(key)", "→ \(target)"))
                }
                if !all.isEmpty { inbound[target] = .array(all) }
            }
            return true
        }
        return changes
    }
}
