// WireGuard nodes, which the engine calls endpoints (`mapping.md` 3.10).

internal import ImportReport
internal import JSON
import Notation
internal import YAML

extension NodeConverter {
    mutating func wireGuard() throws(Fault) {
        guard capabilities.wireGuard else { throw Fault(.needsWireGuard, "type") }
        if fields.has("amnezia-wg-option") { throw Fault(.unsupportedFeature, "amnezia-wg-option") }
        begin("wireguard")
        isEndpoint = true
        var peers: [JSON] = []
        if let list = fields.node("peers")?.sequence, !list.isEmpty {
            guard list.count <= 1024 else { throw .bad("peers") }
            for item in list {
                guard let mapping = item.mapping else { throw .bad("peers") }
                peers.append(try peer(Fields(mapping), alone: list.count == 1))
            }
        } else {
            peers.append(try peer(fields, alone: true))
        }
        outbound["address"] = .strings(try addresses())
        outbound["private_key"] = .string(try Self.key(fields, "private-key"))
        if let mtu = try fields.number("mtu"), mtu > 0 { outbound["mtu"] = .int(mtu) }
        outbound["peers"] = .array(peers)
        if try fields.flag("remote-dns-resolve") == true || fields.has("dns") { notice(.fieldDropped, "dns") }
    }

    private func addresses() throws(Fault) -> [String] {
        var out: [String] = []
        for (key, bits) in [("ip", 32), ("ipv6", 128)] {
            for text in try fields.list(key) ?? [] {
                let parts = text.split(separator: "/", omittingEmptySubsequences: false)
                let isV6 = text.contains(":")
                guard parts.count <= 2, let host = parts.first.flatMap({ Self.host(String($0)) }), isAddress(host)
                else {
                    throw .bad(key)
                }
                let limit = isV6 ? 128 : 32
                let prefix = parts.count == 2 ? Int(parts[1]) : (isV6 ? 128 : min(bits, 32))
                guard let prefix, (0...limit).contains(prefix) else { throw .bad(key) }
                out.append("\(host)/\(prefix)")
            }
        }
        guard !out.isEmpty else { throw .missing("address") }
        return out
    }

    private static func key(_ fields: Fields, _ name: String) throws(Fault) -> String {
        guard let key = repaired(try fields.required(name)) else { throw .bad(name) }
        return key
    }

    private static func repaired(_ key: String) -> String? { Base64.repaired(key.trimmed, bytes: 32) }

    private mutating func peer(_ peer: Fields, alone: Bool) throws(Fault) -> JSON {
        var out = JSONObject()
        let own = NodeConverter(fields: peer, capabilities: capabilities)
        let address = try own.serverField("server")
        let number = try own.portField()
        if server.isEmpty {
            server = address
            port = number
        }
        out["address"] = .string(address)
        out["port"] = .int(number)
        out["public_key"] = .string(try Self.key(peer, "public-key"))
        if let shared = try peer.text("pre-shared-key") {
            guard let key = Self.repaired(shared) else { throw .bad("pre-shared-key") }
            out["pre_shared_key"] = .string(key)
        }
        var allowed = try peer.list("allowed-ips") ?? []
        if allowed.isEmpty {
            guard alone else { throw .missing("allowed-ips") }
            allowed = ["0.0.0.0/0", "::/0"]
        }
        out["allowed_ips"] = .strings(allowed)
        let common = try fields.number("persistent-keepalive") ?? 0
        let keepalive = try peer.number("persistent-keepalive") ?? common
        if keepalive > 0, keepalive <= 65535 { out["persistent_keepalive_interval"] = .int(keepalive) }
        if let reserved = try Self.reserved(peer) { out["reserved"] = reserved }
        return .object(out)
    }

    /// Three bytes as a list, as `a,b,c` or in base64; nil when all are zero.
    private static func reserved(_ fields: Fields) throws(Fault) -> JSON? {
        guard let node = fields.node("reserved") else { return nil }
        var bytes: [UInt8] = []
        if let items = node.sequence {
            for item in items {
                guard let value = item.text.flatMap({ Fields.whole($0) }), value < 256 else { throw .bad("reserved") }
                bytes.append(UInt8(truncatingIfNeeded: value))
            }
        } else if let text = node.text {
            if text.isEmpty { return nil }
            let parts = text.split(separator: ",")
            if parts.count == 3 {
                for part in parts {
                    guard let value = Fields.whole(part.trimmed), value < 256 else { throw .bad("reserved") }
                    bytes.append(UInt8(truncatingIfNeeded: value))
                }
            } else {
                bytes = Base64.decode(text.utf8) ?? []
            }
        }
        guard bytes.count == 3 else { throw .bad("reserved") }
        if bytes.allSatisfy({ $0 == 0 }) { return nil }
        return .array(bytes.map { .int($0) })
    }
}
