// 1.12: with several DNS servers somebody must say which one finds the nodes.

package import ImportReport
package import JSON

/// Sets `route.default_domain_resolver` where 1.14 would refuse to start without it: two or more servers and any dialer
/// that may have to resolve. It is never a server behind a line, nor one that makes addresses up. DNS servers that are
/// names get a resolver too.
/// Source: <https://sing-box.sagernet.org/migration/#missing-default-domain-resolver>.
package struct DefaultResolver: Migration {
    package let name = "default-resolver"
    package let since = "1.12"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        guard document.object != nil else { return [] }
        var changes: [Change] = []
        let servers = document["dns"]["servers"].array ?? []
        let tags = Set(servers.compactMap { $0["tag"].string }).subtracting([""])
        repairDefault(&document, tags, &changes)
        if servers.count >= 2, !document["route"]["default_domain_resolver"].isSet, Self.mayResolve(document) {
            document["route"]["default_domain_resolver"] = Self.choose(&document, servers)
            changes.append(change("route.default_domain_resolver", "set"))
        }
        changes.append(contentsOf: repairServers(&document))
        return changes
    }

    /// A name that does not exist would stop the engine.
    private func repairDefault(_ document: inout JSON, _ tags: Set<String>, _ changes: inout [Change]) {
        let resolver = document["route"]["default_domain_resolver"]
        guard resolver.isSet, !tags.contains(resolver.string ?? resolver["server"].string ?? "") else { return }
        document["route"].removeMember("default_domain_resolver")
        changes.append(change("route.default_domain_resolver", "removed: no such server"))
    }

    private static func choose(_ document: inout JSON, _ servers: [JSON]) -> JSON {
        func direct(_ server: JSON) -> Bool {
            server["tag"].isSet && !server["detour"].isSet && server["type"] != "fakeip" && server["type"] != "hosts"
        }
        let final = document["dns"]["final"].string
        let named = servers.first { $0["tag"].string == final && final != nil && direct($0) }
        guard let server = named ?? servers.first(where: direct), let tag = server["tag"].string else {
            return .string(addLocalResolver(&document))
        }
        var resolver = JSONObject([("server", .string(tag))])
        for key in ["strategy", "client_subnet"] where server[key].isSet { resolver[key] = server[key] }
        return resolver.count == 1 ? .string(tag) : .object(resolver)
    }

    /// True when some dialer may have to find an address by itself. Too often is harmless, too seldom is fatal.
    private static func mayResolve(_ document: JSON) -> Bool {
        let outbounds = document["outbounds"].listed
        if outbounds.isEmpty { return true }
        for outbound in outbounds {
            if outbound["type"] == "direct" { return true }
            if let server = outbound["server"].string, !isAddress(server) { return true }
        }
        for endpoint in document["endpoints"].listed {
            let hosts = [endpoint["server"]] + endpoint["peers"].listed.map { $0["address"] }
            if hosts.contains(where: { $0.string.map { !$0.isEmpty && !isAddress($0) } ?? false }) { return true }
        }
        if let server = document["ntp"]["server"].string, !isAddress(server) { return true }
        return document["http_clients"].isSet
            || document["route"]["rule_set"].listed.contains { $0["type"] == "remote" }
    }

    /// Gives DNS servers that are names the default resolver, where there is one.
    func repairServers(_ document: inout JSON) -> [Change] {
        var changes: [Change] = []
        let tags = Set(document["dns"]["servers"].listed.compactMap { $0["tag"].string })
        let resolver = document["route"]["default_domain_resolver"]
        let fallback = resolver.string ?? resolver["server"].string
        document.editItems(["dns", "servers"]) { server, at in
            guard let host = server["server"].string, !isAddress(host), !server["detour"].isSet else { return true }
            let own = server["domain_resolver"]
            let named = own.string ?? own["server"].string
            if let named, tags.contains(named) { return true }
            guard let fallback, fallback != server["tag"].string, tags.contains(fallback) else { return true }
            server["domain_resolver"] = .string(fallback)
            changes.append(change("dns.servers[\(at)].domain_resolver", "→ \(fallback)"))
            return true
        }
        return changes
    }
}
