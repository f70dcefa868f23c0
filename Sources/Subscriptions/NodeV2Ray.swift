// VMess, VLESS and Trojan nodes (`mapping.md` 3.2, 3.3, 3.5).

internal import ImportReport
internal import JSON

extension NodeConverter {
    mutating func vmess() throws(Fault) {
        begin("vmess")
        try endpoint()
        outbound["uuid"] = .string(try fields.required("uuid").trimmed)
        let cipher = try fields.word("cipher") ?? "auto"
        guard ["auto", "none", "zero", "aes-128-gcm", "chacha20-poly1305", "aes-128-cfb"].contains(cipher) else {
            throw Fault(.unsupportedCipher, Names.short(cipher))
        }
        outbound["security"] = .string(cipher)
        outbound["alter_id"] = .int(try fields.number("alterid") ?? 0)
        if try fields.flag("global-padding") == true { outbound["global_padding"] = true }
        if try fields.flag("authenticated-length") == true { outbound["authenticated_length"] = true }
        if let encoding = try packetEncoding() { outbound["packet_encoding"] = .string(encoding) }
        try network()
        try layers()
        try multiplex()
    }

    mutating func vless() throws(Fault) {
        begin("vless")
        try endpoint()
        outbound["uuid"] = .string(try fields.required("uuid").trimmed)
        if let encryption = try fields.word("encryption"), encryption != "none" {
            throw Fault(.unsupportedFeature, "encryption")
        }
        outbound["packet_encoding"] = .string(try packetEncoding() ?? "xudp")
        let flow = try flow()
        if let flow { outbound["flow"] = .string(flow) }
        try network()
        try layers(flow: flow != nil)
        try multiplex()
    }

    mutating func trojan() throws(Fault) {
        begin("trojan")
        try endpoint()
        outbound["password"] = .string(try fields.required("password"))
        if try fields.inner("ss-opts")?.flag("enabled", as: "ss-opts.enabled") == true {
            throw Fault(.unsupportedFeature, "ss-opts")
        }
        try network()
        // Only links may ask for Trojan without TLS.
        let bare = try fields.flag("trojan-without-tls") == true
        try layers(
            TLSNeeds(always: !bare, alpn: ["h2", "http/1.1"]), allowed: ["ws", "httpupgrade", "grpc"],
            nameFromHost: false)
        try multiplex()
    }

    /// How UDP packets are framed; nil when the profile says nothing.
    private mutating func packetEncoding() throws(Fault) -> String? {
        if let word = try fields.word("packet-encoding") {
            switch word {
            case "xudp": return "xudp"
            case "packetaddr", "packet": return "packetaddr"
            case "none": return nil
            default:
                notice(.fieldDropped, "packet-encoding")
                return nil
            }
        }
        if try fields.flag("packet-addr") == true { return "packetaddr" }
        return try fields.flag("xudp") == true ? "xudp" : nil
    }

    private func flow() throws(Fault) -> String? {
        switch try fields.word("flow") {
        case nil, "none": return nil
        case "xtls-rprx-vision", "xtls-rprx-vision-udp443": return "xtls-rprx-vision"
        default: throw Fault(.unsupportedFeature, "flow")
        }
    }

    /// Transport and TLS, which depend on each other.
    private mutating func layers(
        _ needs: TLSNeeds = TLSNeeds(), allowed: Set<String> = ["ws", "httpupgrade", "http", "h2", "grpc"],
        nameFromHost: Bool = true, flow: Bool = false
    ) throws(Fault) {
        let secure = try wantsTLS(needs)
        let transport = try transport(tls: secure, allowed: allowed)
        if fields.has("shadow-tls-opts") {
            _ = try shadowTLSOptions(plainTCP: transport.json == nil && !flow && secure)
            return
        }
        if flow, transport.json != nil || !secure { throw Fault(.unsupportedFeature, "flow without plain TLS") }
        var needs = needs
        needs.forcedALPN = transport.forcedALPN
        if nameFromHost { needs.serverName = transport.host }
        if let tls = try tls(needs) { outbound["tls"] = tls }
        if let json = transport.json { outbound["transport"] = json }
    }
}
