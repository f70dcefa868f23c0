// `hysteria2://`, `hysteria://` and `tuic://` links.

internal import ImportReport

/// Reading the links of the QUIC protocols.
enum QUICLinks {
    /// <https://v2.hysteria.network/docs/developers/URI-Scheme/>.
    static func hysteria2(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = Fields()
        guard !parts.host.isEmpty else { throw .missing("server") }
        fields.set("server", parts.host)
        let port = parts.port.isEmpty ? "443" : parts.port
        fields.set(isSinglePort(port) ? "port" : "ports", port)
        fields.set("ports", parts.first("mport", "ports"))
        fields.set("password", parts.user)
        if let obfs = parts["obfs"], obfs.lowercased() != "none" {
            fields.set("obfs", obfs)
            fields.set("obfs-password", parts["obfspassword"])
        }
        fields.set("hop-interval", parts.first("hopinterval", "mporthopint"))
        fields.set("fingerprint", parts["pinsha256"])
        fields.set("up", parts.first("up", "upmbps"))
        fields.set("down", parts.first("down", "downmbps"))
        ShareLinks.tls(parts, into: &fields)
        return fields
    }

    /// <https://v1.hysteria.network/docs/uri-scheme/>.
    static func hysteria(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = Fields()
        guard !parts.host.isEmpty else { throw .missing("server") }
        fields.set("server", parts.host)
        if !parts.port.isEmpty { fields.set(isSinglePort(parts.port) ? "port" : "ports", parts.port) }
        fields.set("ports", parts.first("mport", "ports"))
        fields.set("auth-str", parts.first("auth", "authstr"))
        fields.set("protocol", parts["protocol"])
        fields.set("up", parts.first("upmbps", "up"))
        fields.set("down", parts.first("downmbps", "down"))
        fields.set("hop-interval", parts["hopinterval"])
        // `obfs=xplus` names the only method there is; its key stands beside it. Others put the key there.
        if let obfs = parts["obfs"], obfs.lowercased() != "none" {
            fields.set("obfs", obfs.lowercased() == "xplus" ? parts.first("obfsparam", "obfspassword") : obfs)
        }
        ShareLinks.tls(parts, into: &fields)
        return fields
    }

    static func tuic(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = try ShareLinks.addressed(parts, port: 443)
        guard let user = parts.user else { throw .missing("uuid") }
        if let (uuid, password) = user.cut(UInt8(ascii: ":")) {
            fields.set("uuid", String(uuid))
            fields.set("password", String(password))
        } else if isUUID(user) {
            fields.set("uuid", user)
            fields.set("password", parts["password"])
        } else {
            throw Fault(.unsupportedFeature, "token (TUIC v4)")
        }
        fields.set("congestion-controller", parts.first("congestioncontrol", "congestioncontroller"))
        fields.set("udp-relay-mode", parts["udprelaymode"])
        if parts.isOn("udpoverstream") { fields.set("udp-over-stream", flag: true) }
        if parts.isOn("disablesni") { fields.set("disable-sni", flag: true) }
        if parts.isOn("reducertt", "zerortt") { fields.set("reduce-rtt", flag: true) }
        ShareLinks.tls(parts, into: &fields)
        return fields
    }

    private static func isSinglePort(_ text: String) -> Bool { text.utf8.allSatisfy(\.isDigit) }
}
