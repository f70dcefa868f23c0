// 1.14: remote rule-sets say by which HTTP client they are fetched.

package import ImportReport
package import JSON

/// `download_detour` → `http_client`. Where nothing was said the default outbound was meant; a direct outbound without
/// options may not be named and becomes an HTTP client of its own.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-download-detour-to-http-client>.
package struct RuleSetDownloads: Migration {
    package let name = "rule-set-downloads"
    package let since = "1.14"

    package init() {}

    private static let directClient = "rule-set-direct"

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        let empty = emptyDirects(document)
        let byDefault = defaultOutbound(document)
        // A document that has HTTP clients is of 1.14 and means its own default.
        let hasDefault = document["http_clients"].isSet || document["route"]["default_http_client"].isSet
        var needsDirect = false
        document.editItems(["route", "rule_set"]) { set, at in
            guard set["type"] == "remote" else { return true }
            let named = set.removeMember("download_detour")
            let place = "route.rule_set[\(at)]"
            // An empty one is left when nothing in it was known to the engine; it has been dealt with.
            if set["http_client"].isSet || set["http_client"].object != nil {
                if named != nil { changes.append(change(place + ".download_detour", "removed: http_client is set")) }
                return true
            }
            let detour = named?.string.flatMap { $0.isEmpty ? nil : $0 }
            if detour == nil, hasDefault {
                if named != nil { changes.append(change(place + ".download_detour", "removed")) }
                return true
            }
            if let outbound = detour ?? byDefault, !empty.contains(outbound) {
                set["http_client"] = ["detour": .string(outbound)]
            } else {
                set["http_client"] = .string(Self.directClient)
                needsDirect = true
            }
            changes.append(change(place + ".download_detour", "→ http_client"))
            return true
        }
        let clients = document["http_clients"].listed
        if needsDirect, !clients.contains(where: { $0["tag"].string == Self.directClient }) {
            document.append([["tag": .string(Self.directClient)]], to: "http_clients")
        }
        return changes
    }
}
