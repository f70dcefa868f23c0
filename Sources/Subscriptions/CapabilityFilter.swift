// Fitting the objects of a sing-box configuration to the engine at hand.

package import ImportReport
package import JSON

/// What is left of a configuration's lines once everything this engine lacks is gone.
package struct CapabilityFilter: Sendable {
    /// Outbounds the engine can run.
    package var outbounds: [JSON] = []
    /// Endpoints the engine can run.
    package var endpoints: [JSON] = []
    /// Lines it cannot run.
    package var dropped: [DroppedLine] = []
    /// What it runs with less than was written.
    package var notices: [Notice] = []

    /// Removes what the engine was not built with: a browser fingerprint goes with a notice, a line that needs more
    /// than the engine has goes as a whole. Lines the engine accepts and can never dial (no server, no port) go too.
    /// Groups and detours that named a removed line are the caller's to repair.
    package static func apply(
        outbounds: [JSON], endpoints: [JSON], capabilities: EngineCapabilities
    ) -> CapabilityFilter {
        var filter = CapabilityFilter()
        for object in outbounds {
            if let kept = filter.fit(object, capabilities) { filter.outbounds.append(kept) }
        }
        for object in endpoints {
            if let kept = filter.fit(object, capabilities) { filter.endpoints.append(kept) }
        }
        return filter
    }

    private mutating func fit(_ object: JSON, _ capabilities: EngineCapabilities) -> JSON? {
        let type = object["type"].string ?? ""
        let name = Names.cleaned(object["tag"].string ?? "")
        if let (reason, field) = Self.fault(object, type, capabilities) {
            dropped.append(DroppedLine(name: name, type: type, reason: reason, field: field))
            return nil
        }
        guard !capabilities.utls, object["tls"]["utls"].object != nil else { return object }
        var object = object
        var tls = object["tls"]
        let wasOn = tls["utls"]["enabled"].bool != false
        tls.removeMember("utls")
        object["tls"] = tls
        if wasOn { notices.append(Notice(name: name, code: .utlsUnavailable, field: "tls.utls")) }
        return object
    }

    private static func fault(_ object: JSON, _ type: String, _ capabilities: EngineCapabilities) -> (
        DropReason, String
    )? {
        switch type {
        case "hysteria", "hysteria2", "tuic": if !capabilities.quic { return (.needsQUIC, "type") }
        case "wireguard": if !capabilities.wireGuard { return (.needsWireGuard, "type") }
        case "naive":
            if !capabilities.naive { return (.needsNaive, "type") }
            if object["quic"].bool == true, !capabilities.quic { return (.needsQUIC, "quic") }
        case "shadowsocksr", "tor": return (.unsupportedType, type)
        case "tailscale", "openvpn": if !capabilities.tags.contains("with_" + type) { return (.unsupportedType, type) }
        default: break
        }
        if object["tls"]["reality"]["enabled"].bool == true, !capabilities.utls { return (.needsUTLS, "tls.reality") }
        if object["transport"]["type"].string == "quic", !capabilities.quic { return (.needsQUIC, "transport") }
        return unreachable(object, type)
    }

    /// What `sing-box check` lets pass and no connection survives (`mapping.md` 0, rule 4).
    private static func unreachable(_ object: JSON, _ type: String) -> (DropReason, String)? {
        let dialled: Set<String> = [
            "shadowsocks", "vmess", "vless", "trojan", "anytls", "hysteria", "hysteria2", "tuic", "naive", "socks",
            "http",
            "ssh", "snell", "shadowtls",
        ]
        guard dialled.contains(type) else { return nil }
        if object["server"].string == nil, object["detour"].string != nil { return nil }
        guard let server = object["server"].string, NodeConverter.host(server) == server else {
            return (.badField, "server")
        }
        if object["server_ports"].listed.isEmpty {
            guard let port = object["server_port"].int, (1...65535).contains(port) else {
                return (.badField, "server_port")
            }
        }
        if type == "vmess" || type == "vless", object["uuid"].string?.trimmed.isEmpty != false {
            return (.missingField, "uuid")
        }
        let flow = object["flow"].string ?? ""
        if type == "vless", !flow.isEmpty {
            if flow != "xtls-rprx-vision" { return (.unsupportedFeature, "flow") }
            let isPlain = object["transport"]["type"].string == nil
            if !isPlain || object["tls"]["enabled"].bool != true {
                return (.unsupportedFeature, "flow without plain TLS")
            }
        }
        return nil
    }
}
