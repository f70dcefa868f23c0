// `vmess://` links in their three forms: base64 JSON, the URI form, and Shadowrocket's.

internal import ImportReport
import Notation
internal import YAML

/// Reading `vmess://`.
enum VMessLink {
    static func fields(_ parts: LinkParts) throws(Fault) -> Fields {
        if parts.userInfo != nil { return try uri(parts) }
        let body = parts.body.cut(UInt8(ascii: "?"))?.before ?? parts.body[...]
        guard let text = Base64.decodeText(String(body)) else { throw Fault(.badLink, "base64") }
        if let json = JSONFields(text) { return try version2(json) }
        return try shadowrocket(text, parts)
    }

    /// The best name of a link that failed.
    static func name(_ parts: LinkParts) -> String {
        let body = parts.body.cut(UInt8(ascii: "?"))?.before ?? parts.body[...]
        let inner = Base64.decodeText(String(body)).flatMap { JSONFields($0) }?["ps"]
        return inner ?? parts["remarks"] ?? parts.fragment
    }

    private static func uri(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = try ShareLinks.addressed(parts)
        guard let uuid = parts.user else { throw .missing("uuid") }
        fields.set("uuid", uuid)
        fields.set("cipher", parts["encryption"] ?? "auto")
        fields.set("alterid", parts.first("alterid", "aid"))
        fields.set("packet-encoding", parts["packetencoding"] ?? "xudp")
        try V2RayQuery.layers(parts, into: &fields)
        return fields
    }

    /// The JSON form that v2rayN introduced.
    private static func version2(_ json: JSONFields) throws(Fault) -> Fields {
        var fields = Fields()
        fields.set("name", json["ps"])
        guard let server = json["add"] else { throw .missing("server") }
        guard let port = json["port"] else { throw .missing("port") }
        guard let uuid = json["id"] else { throw .missing("uuid") }
        fields.set("server", server)
        fields.set("port", port)
        fields.set("uuid", uuid)
        fields.set("alterid", json["aid"])
        fields.set("cipher", json["scy"] ?? json["security"] ?? "auto")
        fields.set("packet-encoding", "xudp")
        let network = json["net"]?.lowercased() ?? "tcp"
        var host = json["host"]
        var path = json["path"]
        if let text = host, text.hasPrefix("/"), path == nil {
            path = text
            host = nil
        }
        let hosts = host.map { $0.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty } } ?? []
        V2RayQuery.transport(
            network, header: json["type"], hosts: hosts, path: path, service: path, earlyData: nil, earlyHeader: nil,
            into: &fields)
        let tls = json["tls"]?.lowercased()
        if tls == "tls" || tls == "1" || tls == "true" {
            fields.set("tls", flag: true)
            fields.set("servername", json["sni"] ?? (network == "h2" || network == "http" ? hosts.first : nil))
            fields.set("alpn", json["alpn"])
            fields.set("client-fingerprint", json["fp"])
            let insecure = [json["allowinsecure"], json["insecure"], json["skip-cert-verify"]].contains {
                $0.map(LinkParts.means) ?? false
            }
            if insecure || json["verify_cert"]?.lowercased() == "false" { fields.set("skip-cert-verify", flag: true) }
        }
        return fields
    }

    private static func shadowrocket(_ text: String, _ parts: LinkParts) throws(Fault) -> Fields {
        guard let (user, address) = text.cutLast(UInt8(ascii: "@")), let (cipher, uuid) = user.cut(UInt8(ascii: ":")),
            let (host, port) = address.cutLast(UInt8(ascii: ":"))
        else { throw Fault(.badLink, "base64") }
        var fields = Fields()
        fields.set("name", parts.first("remarks", "remark"))
        fields.set("server", String(host))
        fields.set("port", port.trimmed)
        fields.set("uuid", String(uuid))
        fields.set("cipher", String(cipher))
        fields.set("alterid", parts.first("alterid", "aid"))
        fields.set("packet-encoding", "xudp")
        switch parts["obfs"]?.lowercased() {
        case nil, "none": break
        case "websocket", "ws":
            let stated = parts.first("obfsparam", "host")
            let host = stated.flatMap { JSONFields($0)?["host"] } ?? stated
            V2RayQuery.transport(
                "ws", header: nil, hosts: host.map { [$0] } ?? [], path: parts["path"], service: nil, earlyData: nil,
                earlyHeader: nil, into: &fields)
        case let other?: throw Fault(.unsupportedTransport, "obfs:" + Names.short(other))
        }
        if parts.isOn("tls") {
            fields.set("tls", flag: true)
            ShareLinks.tls(parts, into: &fields)
        }
        return fields
    }
}
