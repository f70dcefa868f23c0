// 1.6: ShadowsocksR and the PROXY protocol are gone.

package import ImportReport
package import JSON

/// Drops `shadowsocksr` outbounds (and their names in groups) and the `proxy_protocol` fields.
package struct RemovedProxyFeatures: Migration {
    package let name = "removed-proxy-features"
    package let since = "1.6"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var gone: Set<String> = []
        for section in ["inbounds", "outbounds"] {
            document.editItems([section]) { item, at in
                let place = "\(section)[\(at)]"
                if section == "outbounds", item["type"].string == "shadowsocksr" {
                    if let tag = item["tag"].string { gone.insert(tag) }
                    changes.append(change(place, "removed: ShadowsocksR is not supported"))
                    return false
                }
                for key in ["proxy_protocol", "proxy_protocol_accept_no_header"] where item.removeMember(key) != nil {
                    changes.append(change("\(place).\(key)", "removed"))
                }
                return true
            }
        }
        forget(gone, in: &document)
        return changes
    }
}

/// Takes names out of the member lists of groups.
func forget(_ tags: Set<String>, in document: inout JSON) {
    guard !tags.isEmpty else { return }
    document.editItems(["outbounds"]) { outbound, _ in
        outbound.editItems(["outbounds"]) { member, _ in member.string.map { !tags.contains($0) } ?? true }
        if let named = outbound["default"].string, tags.contains(named) { outbound.removeMember("default") }
        return true
    }
}
