// 1.12: the client subnet is an option of the rule, not of the server.

package import ImportReport
package import JSON

/// Servers' `client_subnet` → every rule that asks them; for the default server a last rule.
package struct DNSClientSubnets: Migration {
    package let name = "dns-client-subnets"
    package let since = "1.12"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var subnets: [String: JSON] = [:]
        let final = document["dns"]["final"].string ?? document["dns"]["servers"].array?.first?["tag"].string
        document.editItems(["dns", "servers"]) { server, at in
            guard let subnet = server.removeMember("client_subnet") else { return true }
            changes.append(change("dns.servers[\(at)].client_subnet", "→ rules"))
            if subnet.isSet, let tag = server["tag"].string { subnets[tag] = subnet }
            return true
        }
        guard !subnets.isEmpty else { return changes }
        document.editItems(["dns", "rules"]) { rule, _ in
            guard let server = askedServer(rule), let subnet = subnets[server] else { return true }
            if !rule["client_subnet"].isSet { rule["client_subnet"] = subnet }
            return true
        }
        if let final, let subnet = subnets[final] {
            document["dns"].append([["server": .string(final), "client_subnet": subnet]], to: "rules")
        }
        return changes
    }
}
