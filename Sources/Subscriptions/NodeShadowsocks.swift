// Shadowsocks nodes and their plugins (`mapping.md` 3.1).

internal import ImportReport
internal import JSON
import Notation

extension NodeConverter {
    private static let methods: Set<String> = [
        "none", "aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-ietf-poly1305", "xchacha20-ietf-poly1305",
        "2022-blake3-aes-128-gcm", "2022-blake3-aes-256-gcm", "2022-blake3-chacha20-poly1305", "aes-128-ctr",
        "aes-192-ctr", "aes-256-ctr", "aes-128-cfb", "aes-192-cfb", "aes-256-cfb", "rc4-md5", "chacha20-ietf",
        "xchacha20",
    ]

    private static func method(_ cipher: String) -> String? {
        switch cipher {
        case "plain", "dummy": return "none"
        case "chacha20-poly1305", "aead_chacha20_poly1305": return "chacha20-ietf-poly1305"
        case "xchacha20-poly1305", "aead_xchacha20_poly1305": return "xchacha20-ietf-poly1305"
        case "aead_aes_128_gcm": return "aes-128-gcm"
        case "aead_aes_192_gcm": return "aes-192-gcm"
        case "aead_aes_256_gcm": return "aes-256-gcm"
        default: return methods.contains(cipher) ? cipher : nil
        }
    }

    mutating func shadowsocks() throws(Fault) {
        begin("shadowsocks")
        try endpoint()
        let cipher = try fields.required("cipher").trimmed.lowercased()
        guard let method = Self.method(cipher) else { throw Fault(.unsupportedCipher, Names.short(cipher)) }
        outbound["method"] = .string(method)
        let password = try fields.text("password") ?? ""
        if password.isEmpty, method != "none" { throw .missing("password") }
        outbound["password"] = .string(method.hasPrefix("2022-") ? try Self.keys(password, method) : password)
        try network()
        let muxed = try multiplex()
        var carriesUDP = muxed
        if try fields.flag("udp-over-tcp") == true {
            let version = try fields.number("udp-over-tcp-version") ?? 1
            guard version <= 2 else { throw .bad("udp-over-tcp-version") }
            if muxed {
                notice(.fieldDropped, "udp-over-tcp")
            } else {
                outbound["udp_over_tcp"] = ["enabled": true, "version": .int(max(version, 1))]
            }
            carriesUDP = true
        }
        try plugin(carriesUDP: carriesUDP)
    }

    /// The keys of a 2022 method in the form both sides take (SIP022, section 2.2).
    private static func keys(_ password: String, _ method: String) throws(Fault) -> String {
        let size = method.contains("128") ? 16 : 32
        let parts = password.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 1 || method.contains("aes") else { throw .bad("password") }
        var keys: [String] = []
        for part in parts {
            guard let key = Base64.repaired(part.trimmed, bytes: size) else { throw .bad("password") }
            keys.append(key)
        }
        return keys.joined(separator: ":")
    }

    private mutating func plugin(carriesUDP: Bool) throws(Fault) {
        guard let name = try fields.word("plugin") else { return }
        let options = try fields.inner("plugin-opts") ?? Fields()
        switch name {
        case "obfs", "obfs-local", "simple-obfs":
            let mode = try options.word("mode", as: "plugin-opts.mode") ?? ""
            guard mode == "http" || mode == "tls" else { throw .bad("plugin-opts.mode") }
            let host = try options.text("host", as: "plugin-opts.host") ?? "bing.com"
            outbound["plugin"] = "obfs-local"
            outbound["plugin_opts"] = .string("obfs=\(mode);obfs-host=\(Self.escaped(host))")
        case "v2ray-plugin": try v2rayPlugin(options, name: name, mux: options.text("mux") ?? "1")
        case "gost-plugin":
            guard let mux = try options.word("mux"), mux == "false" || mux == "0" else {
                throw Fault(.unsupportedPlugin, "gost-plugin mux")
            }
            try v2rayPlugin(options, name: name, mux: "0")
        case "shadow-tls":
            guard let host = try options.text("host") else { throw .missing("host") }
            try shadowTLS(
                options, host: host, alpn: options.list("alpn", as: "plugin-opts.alpn"),
                insecure: options.flag("skip-cert-verify", as: "plugin-opts.skip-cert-verify") == true,
                place: "plugin-opts")
            if !carriesUDP, outbound["network"] == nil {
                outbound["network"] = "tcp"
                notice(.udpDisabled, "plugin")
            }
        default: throw Fault(.unsupportedPlugin, Names.short(name))
        }
    }

    private mutating func v2rayPlugin(_ options: Fields, name: String, mux: String) throws(Fault) {
        guard try options.word("mode", as: "plugin-opts.mode") ?? "websocket" == "websocket" else {
            throw Fault(.unsupportedPlugin, name + " mode")
        }
        if try options.flag("v2ray-http-upgrade", as: "plugin-opts.v2ray-http-upgrade") == true {
            throw Fault(.unsupportedPlugin, "v2ray-http-upgrade")
        }
        for key in ["ech-opts", "certificate", "private-key", "fingerprint"] where options.has(key) {
            throw Fault(.unsupportedPlugin, key)
        }
        let headers = try options.pairs("headers", as: "plugin-opts.headers")
        let stated = headers.last { $0.key.lowercased() == "host" }?.value
        let other = try options.text("host", as: "plugin-opts.host") ?? "bing.com"
        let host = stated ?? other
        var path = try options.text("path", as: "plugin-opts.path") ?? "/"
        if !path.hasPrefix("/") { path = "/" + path }
        if headers.contains(where: { $0.key.lowercased() != "host" }) { notice(.fieldDropped, "plugin-opts.headers") }
        var parts = ["mode=websocket"]
        if try options.flag("tls", as: "plugin-opts.tls") == true {
            parts.append("tls")
            if try options.flag("skip-cert-verify", as: "plugin-opts.skip-cert-verify") == true {
                notice(.verifyForced, "plugin-opts.skip-cert-verify")
            }
        }
        parts.append("host=" + Self.escaped(host))
        parts.append("path=" + Self.escaped(path))
        let muxWord = mux.trimmed.lowercased()
        parts.append(muxWord == "0" || muxWord == "false" ? "mux=0" : "mux=1")
        outbound["plugin"] = "v2ray-plugin"
        outbound["plugin_opts"] = .string(parts.joined(separator: ";"))
    }

    /// A value inside `plugin_opts`: SIP003 escapes `\`, `;` and `=` with a backslash.
    private static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            if scalar == "\\" || scalar == ";" || scalar == "=" { out.unicodeScalars.append("\\") }
            out.unicodeScalars.append(scalar)
        }
        return out
    }
}
