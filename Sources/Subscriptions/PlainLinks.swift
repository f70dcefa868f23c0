// `anytls://`, `socks://`, `http://`, `wireguard://` and `naive+https://` links.

internal import YAML

/// Reading the links of the simpler protocols.
enum PlainLinks {
    /// <https://github.com/anytls/anytls-go/blob/main/docs/uri_scheme.md>.
    static func anytls(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = try ShareLinks.addressed(parts, port: 443)
        fields.set("password", parts.user)
        fields.set("fingerprint", parts.first("hpkp", "pinsha256"))
        ShareLinks.tls(parts, into: &fields)
        return fields
    }

    static func socks(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = try ShareLinks.addressed(parts)
        ShareLinks.account(parts, into: &fields)
        return fields
    }

    /// An HTTP proxy; nil for what is only an address of something.
    static func http(_ parts: LinkParts) throws(Fault) -> Fields? {
        guard !parts.port.isEmpty, parts.path.isEmpty || (parts.path == "/" && parts.userInfo != nil) else {
            return nil
        }
        var fields = try ShareLinks.addressed(parts)
        ShareLinks.account(parts, into: &fields)
        if parts.scheme == "https" {
            fields.set("tls", flag: true)
            ShareLinks.tls(parts, into: &fields)
        }
        return fields
    }

    static func wireGuard(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = try ShareLinks.addressed(parts)
        fields.set("private-key", parts.user ?? parts.first("privatekey", "secretkey"))
        fields.set("public-key", parts.first("publickey", "peerpublickey"))
        fields.set("pre-shared-key", parts.first("presharedkey", "psk"))
        if let address = parts.first("address", "ip") {
            fields.set("ip", list: address.split(separator: ",").map { $0.trimmed })
        }
        fields.set("reserved", parts["reserved"])
        fields.set("mtu", parts["mtu"])
        fields.set("persistent-keepalive", parts.first("keepalive", "persistentkeepalive"))
        fields.set("allowed-ips", parts["allowedips"])
        return fields
    }

    static func naive(_ parts: LinkParts) throws(Fault) -> Fields {
        var fields = try ShareLinks.addressed(parts, port: 443)
        ShareLinks.account(parts, into: &fields)
        fields.set("sni", parts["sni"])
        if parts.scheme == "naive+quic" { fields.set("quic", flag: true) }
        return fields
    }
}
