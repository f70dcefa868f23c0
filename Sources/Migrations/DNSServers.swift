// 1.12: DNS servers have a type and fields instead of an address string.

package import ImportReport
package import JSON

/// Old servers get their new form. `rcode://` servers and the fields `strategy` and `client_subnet` are left to the
/// migrations after this one.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-to-new-dns-server-formats>.
package struct DNSServers: Migration {
    package let name = "dns-servers"
    package let since = "1.12"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        guard document["dns"].object != nil else { return [] }
        var changes: [Change] = []
        let ranges = document["dns"]["fakeip"]
        if document["dns"].object?["fakeip"] != nil {
            document.edit("dns") { $0.removeMember("fakeip") }
            changes.append(change("dns.fakeip", "→ server of type fakeip"))
        }
        var work = Work(document: document, ranges: ranges, dhcp: context.capabilities.dhcp)
        document.editItems(["dns", "servers"]) { server, at in
            let place = "dns.servers[\(at)]"
            let old = server
            guard work.rewrite(&server) else {
                changes.append(change(place, "removed: no version knows this kind of server"))
                return false
            }
            if server != old {
                changes.append(change(place, work.isLegacy(old) ? "address → type, server" : work.note))
            }
            return true
        }
        redirect(work.redirected, removed: work.removed, in: &document, &changes)
        return changes
    }

    /// Points rules at the fakeip server that stays, and drops those whose server is gone.
    private func redirect(
        _ redirected: [String: String], removed: Set<String>, in document: inout JSON, _ changes: inout [Change]
    ) {
        guard !redirected.isEmpty || !removed.isEmpty else { return }
        document.editItems(["dns", "rules"]) { rule, at in
            guard let asked = rule["server"].string else { return true }
            if let other = redirected[asked] { rule["server"] = .string(other) }
            if removed.contains(asked) { changes.append(change("dns.rules[\(at)]", "removed with its server")) }
            return !removed.contains(asked)
        }
        if let final = document["dns"]["final"].string {
            if let other = redirected[final] { document["dns"]["final"] = .string(other) }
            if removed.contains(final) { document["dns"].removeMember("final") }
        }
    }

    private struct Work {
        let ranges: JSON
        let dhcp: Bool
        let tags: Set<String>
        let empty: Set<String>
        let byDefault: String?
        let old: [String: JSON]
        var fakeip: String?
        var redirected: [String: String] = [:]
        var removed: Set<String> = []
        let note = "detour, resolver or kind adjusted"

        init(document: JSON, ranges: JSON, dhcp: Bool) {
            self.ranges = ranges
            self.dhcp = dhcp
            empty = emptyDirects(document)
            byDefault = defaultOutbound(document)
            var byTag: [String: JSON] = [:]
            for server in document["dns"]["servers"].listed {
                if let tag = server["tag"].string, byTag[tag] == nil { byTag[tag] = server }
            }
            old = byTag
            tags = Set(byTag.keys)
        }

        func isLegacy(_ server: JSON) -> Bool {
            server["address"].string != nil && (!server["type"].isSet || server["type"] == "legacy")
        }

        /// - Returns: false when the server goes.
        mutating func rewrite(_ server: inout JSON) -> Bool {
            guard server.object != nil else { return true }
            if !isLegacy(server) { return adjust(&server) }
            let tag = server["tag"].string ?? ""
            guard let address = DNSServerAddress(server["address"].string ?? "") else {
                removed.insert(tag)
                return false
            }
            if case .rcode = address { return true }
            let resolver = server.removeMember("address_resolver")?.string
            let strategy = server.removeMember("address_strategy") ?? .null
            let delay = server.removeMember("address_fallback_delay") ?? .null
            server.removeMember("address")
            switch address {
            case .rcode: return true
            case .fakeip: return becomeFakeIP(&server, tag)
            case .local: server["type"] = "local"
            case .dhcp(let interface):
                server["type"] = dhcp ? "dhcp" : "local"
                if dhcp, let interface { server["interface"] = .string(interface) }
            case .remote(let type, let host, let port, let path):
                server["type"] = .string(type)
                server["server"] = .string(host)
                if let port { server["server_port"] = .int(port) }
                if let path { server["path"] = .string(path) }
                if !isAddress(host), let resolver, tags.contains(resolver) {
                    server["domain_resolver"] = domainResolver(resolver, strategy)
                    if delay.isSet { server["fallback_delay"] = delay }
                }
            }
            if server["type"] == "local" || server["type"] == "dhcp" {
                if let detour = server["detour"].string, empty.contains(detour) || detour.isEmpty {
                    server.removeMember("detour")
                }
            } else {
                // Before 1.12 a server without a detour was dialled through the default outbound, now directly.
                let detour = server["detour"].string.flatMap { $0.isEmpty ? nil : $0 } ?? byDefault
                if let detour, !empty.contains(detour) {
                    server["detour"] = .string(detour)
                } else {
                    server.removeMember("detour")
                }
            }
            return true
        }

        private mutating func becomeFakeIP(_ server: inout JSON, _ tag: String) -> Bool {
            if let fakeip {
                redirected[tag] = fakeip
                return false
            }
            fakeip = tag
            server["type"] = "fakeip"
            server.removeMember("detour")
            let range4 = ranges["inet4_range"]
            let range6 = ranges["inet6_range"]
            if range4.isSet || range6.isSet {
                if range4.isSet { server["inet4_range"] = range4 }
                if range6.isSet { server["inet6_range"] = range6 }
            } else {
                server["inet4_range"] = "198.18.0.0/15"
                server["inet6_range"] = "fc00::/18"
            }
            return true
        }

        /// A server that has a type already: old fields beside the new ones, and detours to nothing.
        private mutating func adjust(_ server: inout JSON) -> Bool {
            let type = server["type"].string ?? ""
            if type == "fakeip" {
                let tag = server["tag"].string ?? ""
                if let fakeip {
                    redirected[tag] = fakeip
                    return false
                }
                fakeip = tag
            }
            if type == "dhcp", !dhcp {
                server["type"] = "local"
                server.removeMember("interface")
            }
            let strategy = server.removeMember("address_strategy") ?? .null
            if let resolver = server.removeMember("address_resolver")?.string, server["domain_resolver"].isNull,
                tags.contains(resolver), !isAddress(server["server"].string ?? "::")
            {
                server["domain_resolver"] = domainResolver(resolver, strategy)
            }
            if let delay = server.removeMember("address_fallback_delay"), delay.isSet {
                server["fallback_delay"] = delay
            }
            if let detour = server["detour"].string, empty.contains(detour) { server.removeMember("detour") }
            return true
        }

        private func domainResolver(_ tag: String, _ strategy: JSON) -> JSON {
            var resolver = JSONObject([("server", .string(tag))])
            let own = old[tag] ?? .null
            let chosen = strategy.isSet ? strategy : own["strategy"]
            if chosen.isSet { resolver["strategy"] = chosen }
            if own["client_subnet"].isSet { resolver["client_subnet"] = own["client_subnet"] }
            return resolver.count == 1 ? .string(tag) : .object(resolver)
        }
    }
}
