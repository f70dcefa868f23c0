// 1.12: a detour to an option-less direct outbound kills every connection, or the engine.

package import ImportReport
package import JSON

/// Drops `detour` where it names a direct outbound without options: of outbounds, endpoints, DNS servers, ntp and HTTP
/// clients.
package struct EmptyDirectDetours: Migration {
    package let name = "empty-direct-detours"
    package let since = "1.12"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        let empty = emptyDirects(document)
        guard !empty.isEmpty else { return [] }
        func clean(_ item: inout JSON, _ place: String) {
            guard let detour = item["detour"].string, empty.contains(detour) else { return }
            item.removeMember("detour")
            changes.append(change(place + ".detour", "removed: it means no detour"))
        }
        for path in [["outbounds"], ["endpoints"], ["http_clients"], ["dns", "servers"]] {
            document.editItems(path) { item, at in
                clean(&item, path.joined(separator: ".") + "[\(at)]")
                return true
            }
        }
        document.edit("ntp") { clean(&$0, "ntp") }
        return changes
    }
}
