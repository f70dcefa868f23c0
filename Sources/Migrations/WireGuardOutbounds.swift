// 1.11: WireGuard is an endpoint.

package import ImportReport
package import JSON

/// Outbounds of type `wireguard` move to `endpoints` under the same tag.
/// Source: <https://sing-box.sagernet.org/migration/#migrate-wireguard-outbound-to-endpoint>.
package struct WireGuardOutbounds: Migration {
    package let name = "wireguard-outbounds"
    package let since = "1.11"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        var endpoints: [JSON] = []
        let final = document["route"]["final"]
        let first = document["outbounds"].array?.first
        document.editItems(["outbounds"]) { outbound, at in
            guard outbound["type"].string == "wireguard", let object = outbound.object else { return true }
            endpoints.append(Self.endpoint(object))
            changes.append(change("outbounds[\(at)]", "wireguard outbound → endpoint"))
            if object["network"]?.isSet == true { changes.append(change("outbounds[\(at)].network", "lost")) }
            return false
        }
        document.append(endpoints, to: "endpoints")
        if let tag = first?["tag"].string, first?["type"].string == "wireguard", !final.isSet {
            document["route"]["final"] = .string(tag)
            changes.append(change("route.final", "→ \(tag): an endpoint is never the implicit default"))
        }
        return changes
    }

    private static let renamed = ["interface_name": "name", "local_address": "address"]
    private static let ofPeer: Set<String> = [
        "server", "server_port", "peer_public_key", "pre_shared_key", "reserved", "peers",
    ]

    private static func endpoint(_ old: JSONObject) -> JSON {
        var new = JSONObject()
        for member in old.members where !ofPeer.contains(member.key) {
            switch member.key {
            case "gso", "network": continue
            case "system_interface": if member.value.isSet { new["system"] = member.value }
            default: new[renamed[member.key] ?? member.key] = member.value
            }
        }
        if let address = new["address"] { new["address"] = .array(address.listed.map(withPrefixLength)) }
        let peers = (old["peers"]?.listed ?? []).compactMap(\.object)
        new["peers"] = .array(peers.isEmpty ? [single(old)] : peers.map(peer))
        return .object(new)
    }

    private static func single(_ old: JSONObject) -> JSON {
        var peer = JSONObject()
        peer["address"] = old["server"]
        peer["port"] = old["server_port"]
        peer["public_key"] = old["peer_public_key"]
        if let key = old["pre_shared_key"], key.isSet { peer["pre_shared_key"] = key }
        peer["allowed_ips"] = ["0.0.0.0/0", "::/0"]
        if let reserved = old["reserved"], reserved.isSet { peer["reserved"] = reserved }
        return .object(peer)
    }

    private static func peer(_ old: JSONObject) -> JSON {
        var peer = JSONObject()
        for member in old.members {
            switch member.key {
            case "server": peer["address"] = member.value
            case "server_port": peer["port"] = member.value
            default: peer[member.key] = member.value
            }
        }
        if peer["allowed_ips"]?.isSet != true { peer["allowed_ips"] = ["0.0.0.0/0", "::/0"] }
        return .object(peer)
    }

    /// The engine refuses a bare address.
    private static func withPrefixLength(_ address: JSON) -> JSON {
        guard let text = address.string, !text.contains("/"), isAddress(text) else { return address }
        return .string(text + (text.contains(":") ? "/128" : "/32"))
    }
}
