// `vless://` and `trojan://` links, and the query both share with `vmess://` (XTLS discussion 716).

internal import ImportReport
import Notation
internal import YAML

/// The transport and TLS part of a link.
enum V2RayQuery {
    /// Writes what `security`, `type` and their companions say.
    static func layers(_ parts: LinkParts, into fields: inout Fields) throws(Fault) {
        let security = parts["security"]?.lowercased() ?? "none"
        switch security {
        case "none": break
        case "xtls": throw Fault(.unsupportedFeature, "security=xtls")
        default:
            fields.set("tls", flag: true)
            fields.set("default-client-fingerprint", "chrome")
            ShareLinks.tls(parts, into: &fields)
            fields.set("fingerprint", parts.first("pcs", "pinsha256"))
        }
        if security == "reality" {
            guard let key = parts["pbk"] else { throw .missing("pbk") }
            fields.set(
                "reality-opts", [("public-key", .string(key)), ("short-id", .string(parts["sid"] ?? ""))])
        }
        let network = parts["type"]?.lowercased() ?? "tcp"
        let hosts = parts["host"].map { $0.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty } } ?? []
        transport(
            network, header: parts["headertype"], hosts: hosts, path: parts["path"],
            service: parts["servicename"], earlyData: parts["ed"], earlyHeader: parts["eh"], into: &fields)
    }

    /// Writes `network` and its options.
    static func transport(
        _ network: String, header: String?, hosts: [String], path: String?, service: String?, earlyData: String?,
        earlyHeader: String?, into fields: inout Fields
    ) {
        func inner(_ pairs: [(String, Node?)]) -> [(String, Node)] {
            pairs.compactMap { pair in pair.1.map { (pair.0, $0) } }
        }
        let hostList: Node? = hosts.isEmpty ? nil : .sequence(hosts.map(Node.string))
        switch network {
        case "tcp", "raw", "":
            guard header?.lowercased() == "http" else { return }
            fields.set("network", "http")
            let headers = hostList.map { Node.mapping(Mapping(pairs: [.init(key: "Host", value: $0)])) }
            fields.set("http-opts", inner([("path", path.map(Node.string)), ("headers", headers)]))
        case "ws", "httpupgrade":
            fields.set("network", network)
            let headers = hosts.first.map { Node.mapping(Mapping(pairs: [.init(key: "Host", value: .string($0))])) }
            var pairs: [(String, Node?)] = [("path", path.map(Node.string)), ("headers", headers)]
            if let earlyData, network == "ws" {
                pairs.append(("max-early-data", .string(earlyData)))
                pairs.append(("early-data-header-name", .string(earlyHeader ?? "Sec-WebSocket-Protocol")))
            }
            fields.set("ws-opts", inner(pairs))
        case "http", "h2":
            fields.set("network", "h2")
            fields.set("h2-opts", inner([("path", path.map(Node.string)), ("host", hostList)]))
        case "grpc":
            fields.set("network", "grpc")
            fields.set("grpc-opts", inner([("grpc-service-name", service.map(Node.string))]))
        case "splithttp": fields.set("network", "xhttp")
        default: fields.set("network", network)
        }
    }
}

/// Reading `vless://`.
enum VLESSLink {
    static func fields(_ parts: LinkParts) throws(Fault) -> Fields {
        guard let parts = unwrapped(parts) else { throw Fault(.badLink, "userinfo") }
        var fields = try ShareLinks.addressed(parts)
        guard var uuid = parts.user else { throw .missing("uuid") }
        if let (_, after) = uuid.cut(UInt8(ascii: ":")) { uuid = String(after) }
        fields.set("uuid", uuid)
        fields.set("flow", parts["flow"])
        fields.set("encryption", parts["encryption"])
        fields.set("packet-encoding", parts["packetencoding"])
        try V2RayQuery.layers(parts, into: &fields)
        return fields
    }

    /// Shadowrocket puts `auto:uuid@host:port` into base64.
    private static func unwrapped(_ parts: LinkParts) -> LinkParts? {
        guard parts.userInfo == nil else { return parts }
        let (body, query) = parts.body.cut(UInt8(ascii: "?")) ?? (parts.body[...], "")
        guard let text = Base64.decodeText(String(body)), text.contains("@") else { return nil }
        return LinkParts("vless://\(text)?\(query)")
    }
}

/// Reading `trojan://`.
enum TrojanLink {
    static func fields(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = try ShareLinks.addressed(parts, port: 443)
        guard let password = parts.user else { throw .missing("password") }
        fields.set("password", password)
        if let encryption = parts["encryption"]?.lowercased(), encryption.hasPrefix("ss;") {
            throw Fault(.unsupportedFeature, "encryption")
        }
        if parts["security"]?.lowercased() == "none" {
            fields.set("trojan-without-tls", flag: true)
        } else {
            fields.set("default-client-fingerprint", "chrome")
            ShareLinks.tls(parts, into: &fields)
        }
        try V2RayQuery.layers(parts, into: &fields)
        if parts.isOn("ws") {
            V2RayQuery.transport(
                "ws", header: nil, hosts: parts["host"].map { [$0] } ?? [], path: parts.first("wspath", "path"),
                service: nil, earlyData: nil, earlyHeader: nil, into: &fields)
        }
        return fields
    }
}
