// The TLS fields of a node (`mapping.md` 2.1), and the ShadowTLS helper that takes their place.

internal import ImportReport
internal import JSON
import Notation

/// What a type asks of its TLS.
struct TLSNeeds {
    /// TLS whatever `tls` says.
    var always = false
    /// ALPN when the profile names none.
    var alpn: [String] = []
    /// ALPN that the transport dictates.
    var forcedALPN: [String]?
    /// The server name when the profile names none, before the server itself.
    var serverName: String?
    /// QUIC: no browser fingerprint.
    var quic = false
}

extension NodeConverter {
    /// Refuses the wrappers the engine does not have.
    func refuseWrappers(_ wrappers: [String] = ["restls-opts", "jls-opts", "tlsmirror-opts"]) throws(Fault) {
        for wrapper in wrappers where fields.has(wrapper) { throw Fault(.unsupportedFeature, wrapper) }
    }

    /// The name the profile gives the server in TLS.
    func statedServerName() throws(Fault) -> String? {
        let type = outbound["type"]?.string
        let isV2Ray = type == "vmess" || type == "vless"
        return try (isV2Ray ? fields.first("servername", "sni") : fields.first("sni", "servername"))?.trimmed
    }

    /// The reality key when there is one; an empty one means ordinary TLS.
    func realityKey() throws(Fault) -> String? {
        try fields.inner("reality-opts")?.text("public-key", as: "reality-opts.public-key")
    }

    /// Whether this node speaks TLS at all.
    func wantsTLS(_ needs: TLSNeeds) throws(Fault) -> Bool {
        if needs.always { return true }
        if try fields.flag("tls") == true { return true }
        return try realityKey() != nil
    }

    /// The `tls` object; nil when the node speaks none.
    mutating func tls(_ needs: TLSNeeds) throws(Fault) -> JSON? {
        try refuseWrappers()
        guard try wantsTLS(needs) else { return nil }
        var out = JSONObject()
        out["enabled"] = true
        let name = try statedServerName() ?? needs.serverName ?? server
        out["server_name"] = .string(name)
        if let verified = try fields.text("name-cert-verify"), verified != name {
            throw Fault(.unsupportedFeature, "name-cert-verify")
        }
        let reality = try realityKey()
        let pinned = try certificatePin()
        if try fields.flag("skip-cert-verify") == true, reality == nil, !pinned { out["insecure"] = true }
        if try fields.flag("disable-sni") == true { out["disable_sni"] = true }
        let stated = try fields.list("alpn") ?? needs.alpn
        let alpn = needs.forcedALPN ?? stated
        if !alpn.isEmpty { out["alpn"] = .strings(alpn) }
        if !needs.quic, let utls = try fingerprint(reality: reality != nil) { out["utls"] = utls }
        if let reality {
            out["reality"] = try self.reality(reality)
        } else if let ech = try ech() {
            out["ech"] = ech
        }
        try certificates(into: &out)
        return .object(out)
    }

    /// Reads `fingerprint`: true for the hash of a certificate, which the engine cannot pin.
    private mutating func certificatePin() throws(Fault) -> Bool {
        guard let text = try fields.text("fingerprint") else { return false }
        let digits = text.trimmed.filter { $0 != ":" }
        if digits.utf8.count == 64, digits.isHex {
            notice(.pinDropped, "fingerprint")
            return true
        }
        notice(.fieldDropped, "fingerprint")
        return false
    }

    /// The `utls` object for `client-fingerprint`.
    mutating func fingerprint(reality: Bool) throws(Fault) -> JSON? {
        let stated = try fields.word("client-fingerprint")
        let standard = try fields.word("default-client-fingerprint")
        let wanted = stated ?? standard
        guard capabilities.utls else {
            if reality { throw Fault(.needsUTLS, "reality-opts") }
            if let stated, stated != "none" { notice(.utlsUnavailable, "client-fingerprint") }
            return nil
        }
        var name = wanted.flatMap { $0 == "none" ? nil : Self.fingerprintName($0) }
        if name == nil {
            if let wanted, wanted != "none" { notice(.fieldDropped, "client-fingerprint") }
            if reality { name = "chrome" }
        }
        return name.map { ["enabled": true, "fingerprint": .string($0)] }
    }

    private static func fingerprintName(_ text: String) -> String? {
        switch text {
        case "chrome", "firefox", "edge", "safari", "360", "qq", "ios", "android", "random", "randomized": return text
        default: break
        }
        if text.hasPrefix("chrome_") { return "chrome" }
        for name in ["chrome", "firefox", "safari"] where text.hasPrefix(name) {
            return text.utf8.dropFirst(name.utf8.count).allSatisfy(\.isDigit) ? name : nil
        }
        return nil
    }

    private func reality(_ key: String) throws(Fault) -> JSON {
        guard let publicKey = Base64.repaired(key.trimmed, bytes: 32, url: true) else {
            throw .bad("reality-opts.public-key")
        }
        var out = JSONObject()
        out["enabled"] = true
        out["public_key"] = .string(publicKey)
        if let short = try fields.inner("reality-opts")?.text("short-id", as: "reality-opts.short-id")?.trimmed,
            !short.isEmpty
        {
            guard short.isHex, short.utf8.count <= 16, short.utf8.count % 2 == 0 else {
                throw .bad("reality-opts.short-id")
            }
            out["short_id"] = .string(short)
        }
        return .object(out)
    }

    private func ech() throws(Fault) -> JSON? {
        guard let options = try fields.inner("ech-opts"), try options.flag("enable", as: "ech-opts.enable") == true
        else {
            return nil
        }
        var out = JSONObject()
        out["enabled"] = true
        if let config = try options.text("config", as: "ech-opts.config") {
            guard let bytes = Base64.decode(config.utf8), !bytes.isEmpty else { throw .bad("ech-opts.config") }
            let body = Array(Base64.encode(bytes).utf8)
            var lines = ["-----BEGIN ECH CONFIGS-----"]
            for start in stride(from: 0, to: body.count, by: 64) {
                lines.append(String(decoding: body[start..<min(start + 64, body.count)], as: UTF8.self))
            }
            lines.append("-----END ECH CONFIGS-----")
            out["config"] = .strings(lines)
        }
        if let name = try options.text("query-server-name", as: "ech-opts.query-server-name") {
            out["query_server_name"] = .string(name)
        }
        return .object(out)
    }

    private mutating func certificates(into out: inout JSONObject) throws(Fault) {
        if let certificate = try fields.text("certificate"), let key = try fields.text("private-key") {
            out["client_certificate"] = try Self.pem(certificate, "certificate")
            out["client_key"] = try Self.pem(key, "private-key")
        }
        if let authority = try fields.text("ca-str") { out["certificate"] = try Self.pem(authority, "ca-str") }
        if fields.has("ca") { notice(.fieldDropped, "ca") }
    }

    // MARK: ShadowTLS

    /// Puts a ShadowTLS helper between the node and its server: the node keeps no address of its own.
    /// - Parameters:
    ///   - options: where `version`, `password`, `alpn` and `skip-cert-verify` stand.
    ///   - place: how those options are called in reports.
    mutating func shadowTLS(_ options: Fields, host: String, alpn: [String]?, insecure: Bool, place: String)
        throws(Fault)
    {
        let version = try options.number("version", as: place + ".version") ?? 2
        guard (1...3).contains(version) else { throw .bad(place + ".version") }
        var out = JSONObject()
        out["type"] = "shadowtls"
        out["tag"] = ""
        out["server"] = outbound.removeValue(forKey: "server")
        out["server_port"] = outbound.removeValue(forKey: "server_port")
        out["version"] = .int(version)
        if version > 1 { out["password"] = .string(try options.required("password", as: place + ".password")) }
        var tls = JSONObject()
        tls["enabled"] = true
        tls["server_name"] = .string(host)
        if insecure { tls["insecure"] = true }
        tls["alpn"] = .strings(alpn ?? ["h2", "http/1.1"])
        if version == 1 {
            tls["min_version"] = "1.2"
            tls["max_version"] = "1.2"
        }
        if let utls = try fingerprint(reality: false) { tls["utls"] = utls }
        out["tls"] = .object(tls)
        helper = out
        outbound["detour"] = ""
    }

    /// Handles `shadow-tls-opts` of vmess, vless and trojan. True when it is set.
    mutating func shadowTLSOptions(plainTCP: Bool) throws(Fault) -> Bool {
        guard let options = try fields.inner("shadow-tls-opts") else { return false }
        guard plainTCP, try realityKey() == nil, !fields.has("ech-opts") else {
            throw Fault(.unsupportedFeature, "shadow-tls-opts")
        }
        try refuseWrappers()
        try shadowTLS(
            options, host: statedServerName() ?? server, alpn: fields.list("alpn"),
            insecure: try fields.flag("skip-cert-verify") == true, place: "shadow-tls-opts")
        return true
    }
}
