// 1.8: what the control API remembers is kept in the cache file.

package import ImportReport
package import JSON

/// `clash_api.cache_file` and its companions → `experimental.cache_file`. Mode and selection are always stored.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-cache-file-from-clash-api-to-independent-options>.
package struct ClashAPIStore: Migration {
    package let name = "clash-api-store"
    package let since = "1.8"

    package init() {}

    private static let fields = ["cache_file", "cache_id", "store_mode", "store_selected", "store_fakeip"]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var found = JSONObject()
        document.edit("experimental") { experimental in
            experimental.edit("clash_api") { api in
                for field in Self.fields {
                    guard let value = api.removeMember(field) else { continue }
                    if value.isSet { found[field] = value }
                    changes.append(change("experimental.clash_api.\(field)", "→ experimental.cache_file"))
                }
            }
            guard !found.isEmpty else { return }
            var cache = experimental["cache_file"].object ?? JSONObject()
            cache["enabled"] = true
            for (old, new) in [("cache_file", "path"), ("cache_id", "cache_id"), ("store_fakeip", "store_fakeip")] {
                if let value = found[old], cache[new] == nil { cache[new] = value }
            }
            experimental["cache_file"] = .object(cache)
        }
        return changes
    }
}
