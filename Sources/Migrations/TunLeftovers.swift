// 1.11 to 1.14: TUN options that are gone.

package import ImportReport
package import JSON

/// `gso`, `endpoint_independent_nat` and the `lwip` stack go; a TUN whose first IPv4 prefix has no second address gets
/// `dns_mode: disabled`, because 1.14 panics looking for it.
package struct TunLeftovers: Migration {
    package let name = "tun-leftovers"
    package let since = "1.11"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        document.editItems(["inbounds"]) { inbound, at in
            guard inbound["type"].string == "tun" else { return true }
            let place = "inbounds[\(at)]"
            for key in ["gso", "endpoint_independent_nat"] where inbound.removeMember(key) != nil {
                changes.append(change("\(place).\(key)", "removed: it has no effect any more"))
            }
            if inbound["stack"] == "lwip" {
                inbound.removeMember("stack")
                changes.append(change(place + ".stack", "removed: lwip is gone"))
            }
            let first = inbound["address"].listed.compactMap(\.string).first { !$0.contains(":") }
            let stack = inbound["stack"].string ?? ""
            if let first, first.hasSuffix("/32"), stack == "gvisor" || stack == "mixed", inbound["dns_mode"].isNull {
                inbound["dns_mode"] = "disabled"
                changes.append(change(place + ".dns_mode", "disabled: a /32 has no address to answer DNS on"))
            }
            return true
        }
        return changes
    }
}
