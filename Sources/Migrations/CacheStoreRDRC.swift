// 1.14: refused DNS answers are cached with all the others.

package import ImportReport
package import JSON

/// `cache_file.store_rdrc` → `store_dns`; `rdrc_timeout` goes.
package struct CacheStoreRDRC: Migration {
    package let name = "cache-store-rdrc"
    package let since = "1.14"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        document.edit("experimental") { experimental in
            experimental.edit("cache_file") { cache in
                guard let store = cache.removeMember("store_rdrc") else { return }
                if store.isSet { cache["store_dns"] = true }
                cache.removeMember("rdrc_timeout")
                changes.append(change("experimental.cache_file.store_rdrc", "→ store_dns"))
            }
        }
        return changes
    }
}
