// `ss://` links: SIP002, the older form that is base64 as a whole, and their plugins.

internal import ImportReport
import Notation
internal import YAML

/// Reading `ss://` (<https://shadowsocks.org/doc/sip002.html>).
enum ShadowsocksLink {
    static func fields(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = Fields()
        if parts.userInfo != nil {
            try modern(parts, into: &fields)
        } else {
            try legacy(parts, into: &fields)
        }
        if parts.isOn("uot", "udpovertcp") {
            fields.set("udp-over-tcp", flag: true)
            fields.set("udp-over-tcp-version", "1")
        }
        if let plugin = parts["plugin"] {
            try self.plugin(plugin, into: &fields)
        } else if let json = parts["shadowtls"].flatMap({ Base64.decodeText($0) }) {
            shadowTLS(json, into: &fields)
        }
        return fields
    }

    private static func modern(_ parts: LinkParts, into fields: inout Fields) throws(Fault) {
        guard !parts.host.isEmpty, !parts.port.isEmpty else { throw Fault(.badLink, "host") }
        let raw = parts.userInfo ?? ""
        var text = raw.percentDecoded
        if !raw.utf8.contains(UInt8(ascii: ":")), let decoded = Base64.decodeText(raw), decoded.contains(":") {
            text = decoded
        }
        guard let (method, password) = text.cut(UInt8(ascii: ":")) else { throw Fault(.badLink, "userinfo") }
        fields.set("cipher", String(method))
        fields.set("password", String(password))
        fields.set("server", parts.host)
        fields.set("port", parts.port)
    }

    private static func legacy(_ parts: LinkParts, into fields: inout Fields) throws(Fault) {
        var body = parts.body.cut(UInt8(ascii: "?"))?.before ?? parts.body[...]
        while body.hasSuffix("/") { body = body.dropLast() }
        guard let text = Base64.decodeText(String(body)), let (user, address) = text.cutLast(UInt8(ascii: "@")),
            let (method, password) = user.cut(UInt8(ascii: ":"))
        else { throw Fault(.badLink, "userinfo") }
        guard let (host, port) = address.cutLast(UInt8(ascii: ":")), !host.isEmpty else {
            throw Fault(.badLink, "host")
        }
        fields.set("cipher", String(method))
        fields.set("password", String(password))
        fields.set("server", String(host))
        fields.set("port", port.trimmed)
    }

    /// Reads a plugin and its options in SIP003 form.
    static func plugin(_ text: String, into fields: inout Fields) throws(Fault) {
        var options = split(text)[...]
        guard let name = options.popFirst()?.key.trimmed.lowercased(), !name.isEmpty else { return }
        var values: [String: String] = [:]
        for option in options { values[option.key.trimmed.lowercased()] = option.value ?? "true" }
        var out: [(String, Node)] = []
        func pass(_ key: String, as target: String? = nil) {
            if let value = values[key], !value.isEmpty { out.append((target ?? key, .string(value))) }
        }
        switch name {
        case "obfs-local", "simple-obfs", "obfs":
            pass("obfs", as: "mode")
            pass("obfs-host", as: "host")
        case "v2ray-plugin", "gost-plugin":
            for key in ["mode", "host", "path"] { pass(key) }
            if let tls = values["tls"], tls != "0", tls.lowercased() != "false" { out.append(("tls", .string("true"))) }
            if let mux = values["mux"] { out.append(("mux", .string(mux == "0" || mux == "false" ? "0" : "1"))) }
        default:
            for key in ["host", "password", "version"] { pass(key) }
        }
        fields.set("plugin", name)
        fields.set("plugin-opts", out)
    }

    /// SIP003 options: `;` between them, `=` after a key, `\` before a character that is meant literally.
    private static func split(_ text: String) -> [(key: String, value: String?)] {
        var out: [(key: String, value: String?)] = []
        var key = String.UnicodeScalarView()
        var value: String.UnicodeScalarView?
        var isEscaped = false
        func put(_ scalar: Unicode.Scalar) {
            if value == nil { key.append(scalar) } else { value?.append(scalar) }
        }
        func flush() { out.append((String(key), value.map { String($0) })) }
        for scalar in text.unicodeScalars {
            if isEscaped {
                put(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == ";" {
                flush()
                key = String.UnicodeScalarView()
                value = nil
            } else if scalar == "=", value == nil {
                value = String.UnicodeScalarView()
            } else {
                put(scalar)
            }
        }
        flush()
        return out
    }

    /// Shadowrocket writes ShadowTLS as base64 JSON in a query value of its own.
    private static func shadowTLS(_ json: String, into fields: inout Fields) {
        guard let options = JSONFields(json) else { return }
        var out: [(String, Node)] = []
        for key in ["host", "password", "version"] {
            if let value = options[key] { out.append((key, .string(value))) }
        }
        fields.set("plugin", "shadow-tls")
        fields.set("plugin-opts", out)
    }
}
