// 1.14: the DNS cache is always one per server.

package import ImportReport
package import JSON

/// `dns.independent_cache` goes.
package struct DNSIndependentCache: Migration {
    package let name = "dns-independent-cache"
    package let since = "1.14"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        document.edit("dns") { dns in
            guard dns.removeMember("independent_cache") != nil else { return }
            changes.append(change("dns.independent_cache", "removed: always so"))
        }
        return changes
    }
}
