// AnyTLS, Snell, SOCKS, HTTP, SSH and Naive nodes (`mapping.md` 3.6, 3.11 to 3.13).

internal import ImportReport
internal import JSON

extension NodeConverter {
    mutating func anytls() throws(Fault) {
        begin("anytls")
        try endpoint()
        outbound["password"] = .string(try fields.required("password"))
        try refuseWrappers(["restls-opts", "jls-opts", "tlsmirror-opts", "shadow-tls-opts"])
        for (key, target) in [
            ("idle-session-check-interval", "idle_session_check_interval"),
            ("idle-session-timeout", "idle_session_timeout"),
        ] {
            if let seconds = try fields.number(key), seconds > 0 { outbound[target] = .string("\(seconds)s") }
        }
        if let least = try fields.number("min-idle-session"), least > 0 { outbound["min_idle_session"] = .int(least) }
        if let text = try fields.text("client-metadata") { outbound["client_metadata"] = .string(text) }
        outbound["tls"] = try tls(TLSNeeds(always: true))
        if try fields.flag("udp") == false { notice(.fieldDropped, "udp") }
    }

    mutating func snell() throws(Fault) {
        begin("snell")
        try endpoint()
        let version = try fields.number("version") ?? 1
        guard version == 4 || version == 5 else { throw Fault(.unsupportedFeature, "snell v\(version)") }
        outbound["version"] = 4
        outbound["psk"] = .string(try fields.required("psk"))
        if try fields.flag("reuse") == true { outbound["reuse"] = true }
        try network()
        guard let options = try fields.inner("obfs-opts"), let mode = try options.word("mode", as: "obfs-opts.mode")
        else {
            return
        }
        switch mode {
        case "none", "off": break
        case "http", "tls":
            outbound["obfs_mode"] = .string(mode)
            outbound["obfs_host"] = .string(try options.text("host", as: "obfs-opts.host") ?? "bing.com")
        case "shadow-tls":
            try shadowTLS(
                options, host: options.required("host", as: "obfs-opts.host"),
                alpn: options.list("alpn", as: "obfs-opts.alpn"),
                insecure: options.flag("skip-cert-verify", as: "obfs-opts.skip-cert-verify") == true, place: "obfs-opts"
            )
        default: throw Fault(.unsupportedPlugin, "obfs-opts.mode:" + Names.short(mode))
        }
    }

    mutating func socks() throws(Fault) {
        begin("socks")
        try endpoint()
        if try fields.flag("tls") == true { throw Fault(.unsupportedFeature, "socks5 over tls") }
        outbound["version"] = "5"
        try account()
        try network()
    }

    mutating func http() throws(Fault) {
        begin("http")
        try endpoint()
        try account()
        var headers = JSONObject()
        for header in try fields.pairs("headers") { headers[header.key] = .string(header.value) }
        if !headers.isEmpty { outbound["headers"] = .object(headers) }
        if let tls = try tls(TLSNeeds()) { outbound["tls"] = tls }
    }

    private mutating func account() throws(Fault) {
        if let user = try fields.text("username") { outbound["username"] = .string(user) }
        if let password = try fields.text("password") { outbound["password"] = .string(password) }
    }

    mutating func ssh() throws(Fault) {
        begin("ssh")
        try endpoint()
        outbound["user"] = .string(try fields.required("username"))
        if let password = try fields.text("password") { outbound["password"] = .string(password) }
        if let key = try fields.text("private-key") { outbound["private_key"] = try Self.pem(key, "private-key") }
        if let phrase = try fields.text("private-key-passphrase") {
            outbound["private_key_passphrase"] = .string(phrase)
        }
        let keys = try fields.list("host-key") ?? []
        if keys.isEmpty {
            notice(.hostKeyUnchecked, "host-key")
        } else {
            outbound["host_key"] = .strings(keys)
        }
        let algorithms = try fields.list("host-key-algorithms") ?? []
        if !algorithms.isEmpty { outbound["host_key_algorithms"] = .strings(algorithms) }
    }

    mutating func naive() throws(Fault) {
        guard capabilities.naive else { throw Fault(.needsNaive, "type") }
        begin("naive")
        try endpoint()
        try account()
        if try fields.flag("quic") == true {
            guard capabilities.quic else { throw Fault(.needsQUIC, "quic") }
            outbound["quic"] = true
        }
        outbound["tls"] = ["enabled": true, "server_name": .string(try statedServerName() ?? server)]
    }
}
