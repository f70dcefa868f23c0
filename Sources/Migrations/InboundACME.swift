// 1.14: certificates by ACME come from a certificate provider.

package import ImportReport
package import JSON

/// Inbound `tls.acme` → `tls.certificate_provider` of type `acme`.
package struct InboundACME: Migration {
    package let name = "inbound-acme"
    package let since = "1.14"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        document.editItems(["inbounds"]) { inbound, at in
            inbound.edit("tls") { tls in
                guard let acme = tls.removeMember("acme") else { return }
                if case .object(var provider) = acme, !provider.isEmpty, tls["certificate_provider"].isNull {
                    provider["type"] = "acme"
                    tls["certificate_provider"] = .object(provider)
                }
                changes.append(change("inbounds[\(at)].tls.acme", "→ certificate_provider"))
            }
            return true
        }
        return changes
    }
}
