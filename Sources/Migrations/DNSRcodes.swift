// 1.12: a fixed answer is a rule action, not a server.

package import ImportReport
package import JSON

/// `rcode://` servers go; rules to them get `action: predefined`.
package struct DNSRcodes: Migration {
    package let name = "dns-rcodes"
    package let since = "1.12"

    package init() {}

    private static let codes = [
        "success": "NOERROR", "format_error": "FORMERR", "server_failure": "SERVFAIL", "name_error": "NXDOMAIN",
        "not_implemented": "NOTIMP", "refused": "REFUSED",
    ]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var codes: [String: String] = [:]
        let final = document["dns"]["final"].string ?? document["dns"]["servers"].array?.first?["tag"].string
        document.editItems(["dns", "servers"]) { server, at in
            guard let address = server["address"].string, case .rcode(let code)? = DNSServerAddress(address) else {
                return true
            }
            if let tag = server["tag"].string { codes[tag] = Self.codes[code] ?? "NOERROR" }
            changes.append(change("dns.servers[\(at)]", "→ rule action predefined"))
            return false
        }
        guard !codes.isEmpty else { return changes }
        let ruleSets = AddressRuleSets(document, context.holdsAddresses)
        document.editItems(["dns", "rules"]) { rule, at in
            guard let tag = rule["server"].string, let code = codes[tag] else { return true }
            if ruleSets.holdsAddressFilter(rule) {
                changes.append(change("dns.rules[\(at)]", "removed: a fixed answer never matched addresses"))
                return false
            }
            for key in dnsActionKeys { rule.removeMember(key) }
            rule["action"] = "predefined"
            rule["rcode"] = .string(code)
            changes.append(change("dns.rules[\(at)]", "server \(tag) → action predefined"))
            return true
        }
        if let final, let code = codes[final] {
            document["dns"].append([["action": "predefined", "rcode": .string(code)]], to: "rules")
            document["dns"].removeMember("final")
            changes.append(change("dns.final", "→ last rule with action predefined"))
        }
        return changes
    }
}
