// 1.8: the geosite and geoip databases are rule-sets.

package import ImportReport
package import JSON

/// `geosite`, `geoip` and `source_geoip` in route and DNS rules → rule-sets of the same names, declared once; `private`
/// becomes a condition of its own. The blocks that said where the databases come from go.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-geoip-to-rule-sets>.
package struct GeoDatabases: Migration {
    package let name = "geo-databases"
    package let since = "1.8"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var sets = Sets(document)
        for path in [["route", "rules"], ["dns", "rules"]] {
            document.editItems(path) { rule, at in
                let place = "\(path[0]).rules[\(at)]"
                rewrite(&rule, place: place, depth: 0, sets: &sets, changes: &changes)
                return true
            }
        }
        document.edit("route") { route in
            for key in ["geosite", "geoip"] where route.removeMember(key) != nil {
                changes.append(change("route.\(key)", "removed: rule-sets take its place"))
            }
            route.append(sets.added, to: "rule_set")
        }
        if !sets.added.isEmpty {
            // Without a route section the lists above had nowhere to go.
            if document["route"].object == nil { document["route"] = ["rule_set": .array(sets.added)] }
            document["experimental"]["cache_file"]["enabled"] = true
            changes.append(change("route.rule_set", "\(sets.added.count) rule-sets declared"))
        }
        return changes
    }

    private func rewrite(
        _ rule: inout JSON, place: String, depth: Int, sets: inout Sets, changes: inout [Change]
    ) {
        rule.editItems(["rules"]) { part, at in
            rewrite(&part, place: "\(place).rules[\(at)]", depth: depth + 1, sets: &sets, changes: &changes)
            return true
        }
        let geosite = Self.names(rule.removeMember("geosite"))
        let geoip = Self.names(rule.removeMember("geoip"))
        let source = Self.names(rule.removeMember("source_geoip"))
        guard !(geosite.isEmpty && geoip.isEmpty && source.isEmpty) else { return }
        changes.append(change(place, "geosite, geoip → rule_set"))

        var destination = geosite.map { sets.site($0) }
        if geoip.contains("private") { rule["ip_is_private"] = true }
        destination += geoip.filter { $0 != "private" }.map { sets.address($0) }
        if source.contains("private") { rule["source_ip_is_private"] = true }
        let sourceSets = source.filter { $0 != "private" }.map { sets.address($0) }

        let before = rule["rule_set"].listed
        if sourceSets.isEmpty {
            if !destination.isEmpty { rule["rule_set"] = .listable(before + destination) }
        } else if before.isEmpty, destination.isEmpty {
            rule["rule_set"] = .listable(sourceSets)
            rule["rule_set_ip_cidr_match_source"] = true
        } else {
            if !destination.isEmpty { rule["rule_set"] = .listable(before + destination) }
            split(&rule, sourceSets, nested: depth > 0)
        }
    }

    /// Source sets beside destination sets need a rule of their own: both must match.
    private func split(_ rule: inout JSON, _ sourceSets: [JSON], nested: Bool) {
        let actions: Set<String> = dnsActionKeys.union(["outbound", "override_address", "override_port"])
        var outer = JSONObject([("type", "logical"), ("mode", "and")])
        var inner = JSONObject()
        for member in (rule.object ?? JSONObject()).members {
            if member.key == "invert" || (!nested && actions.contains(member.key)) {
                outer[member.key] = member.value
            } else {
                inner[member.key] = member.value
            }
        }
        outer["rules"] = [
            .object(inner), ["rule_set": .listable(sourceSets), "rule_set_ip_cidr_match_source": true],
        ]
        rule = .object(outer)
    }

    private static func names(_ value: JSON?) -> [String] {
        (value?.listed ?? []).compactMap(\.string).filter { !$0.isEmpty }.map { $0.lowercased() }
    }

    /// The rule-sets to declare, each once, in the order they were met.
    private struct Sets {
        private(set) var added: [JSON] = []
        private var known: Set<String>
        private let siteDetour: JSON
        private let addressDetour: JSON

        init(_ document: JSON) {
            known = Set(document["route"]["rule_set"].listed.compactMap { $0["tag"].string })
            siteDetour = document["route"]["geosite"]["download_detour"]
            addressDetour = document["route"]["geoip"]["download_detour"]
        }

        mutating func site(_ name: String) -> JSON {
            declare(
                "geosite-\(name)", siteDetour,
                "https://raw.githubusercontent.com/SagerNet/sing-geosite/rule-set/geosite-\(name).srs")
        }

        /// Country codes are in one repository, services such as `telegram` in another.
        mutating func address(_ name: String) -> JSON {
            declare(
                "geoip-\(name)", addressDetour,
                name.utf8.count == 2
                    ? "https://raw.githubusercontent.com/SagerNet/sing-geoip/rule-set/geoip-\(name).srs"
                    : "https://raw.githubusercontent.com/MetaCubeX/meta-rules-dat/sing/geo/geoip/\(name).srs")
        }

        private mutating func declare(_ tag: String, _ detour: JSON, _ url: String) -> JSON {
            if known.insert(tag).inserted {
                var set: JSON = [
                    "type": "remote", "tag": .string(tag), "format": "binary", "url": .string(url),
                ]
                if detour.isSet { set["download_detour"] = detour }
                added.append(set)
            }
            return .string(tag)
        }
    }
}
