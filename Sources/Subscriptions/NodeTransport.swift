// The `network` of a node as the engine's `transport` (`mapping.md` 3.4).

internal import ImportReport
internal import JSON
import Notation

/// A transport, and what it asks of TLS.
struct Transport {
    /// Nothing for plain TCP.
    var json: JSON?
    var forcedALPN: [String]?
    /// The `Host` of a WebSocket or upgrade request, when the profile states one.
    var host: String?

    /// Plain TCP.
    static let plain = Transport()
}

extension NodeConverter {
    /// Reads `network` and its options.
    /// - Parameters:
    ///   - tls: whether the node speaks TLS.
    ///   - allowed: the networks this type may use besides TCP.
    mutating func transport(tls: Bool, allowed: Set<String> = ["ws", "httpupgrade", "http", "h2", "grpc"]) throws(Fault)
        -> Transport
    {
        let network = try fields.word("network") ?? "tcp"
        if network == "tcp" || network == "raw" { return .plain }
        guard allowed.contains(network) else { throw Fault(.unsupportedTransport, "network:" + Names.short(network)) }
        switch network {
        case "ws", "httpupgrade": return try webSocket(tls: tls, upgrade: network == "httpupgrade")
        case "http":
            guard !tls else { throw Fault(.unsupportedTransport, "network:http") }
            return try plainHTTP()
        case "h2":
            guard tls else { throw Fault(.unsupportedTransport, "network:h2") }
            return try http2()
        default: return try grpc(tls: tls)
        }
    }

    private mutating func webSocket(tls: Bool, upgrade: Bool) throws(Fault) -> Transport {
        let options = try fields.inner("ws-opts") ?? Fields()
        var headers = try options.pairs("headers", as: "ws-opts.headers")
        if headers.isEmpty { headers = try fields.pairs("ws-headers") }
        let host = headers.last { $0.key.lowercased() == "host" }?.value.trimmed
        headers.removeAll { $0.key.lowercased() == "host" }
        let stated = host.flatMap { $0.isEmpty ? nil : $0 }
        let named = tls ? try statedServerName() : nil
        let shown = stated ?? named ?? server
        let oldPath = try fields.text("ws-path") ?? "/"
        var path = try options.text("path", as: "ws-opts.path") ?? oldPath
        if !path.hasPrefix("/") { path = "/" + path }
        let early = earlyData(&path)
        var out = JSONObject()
        let asked = try options.flag("v2ray-http-upgrade", as: "ws-opts.v2ray-http-upgrade") == true
        let isUpgrade = upgrade || asked
        out["type"] = isUpgrade ? "httpupgrade" : "ws"
        if isUpgrade { out["host"] = .string(shown) }
        out["path"] = .string(path)
        var json = JSONObject()
        if !isUpgrade { json["Host"] = .string(shown) }
        for header in headers { json[header.key] = .string(header.value) }
        if !json.isEmpty { out["headers"] = .object(json) }
        if isUpgrade {
            if try options.flag("v2ray-http-upgrade-fast-open") == true {
                notice(.fieldDropped, "ws-opts.v2ray-http-upgrade-fast-open")
            }
        } else {
            let size = try options.number("max-early-data", as: "ws-opts.max-early-data") ?? 0
            if size > 0 {
                out["max_early_data"] = .int(min(size, Int(UInt32.max)))
                if let name = try options.text("early-data-header-name", as: "ws-opts.early-data-header-name") {
                    out["early_data_header_name"] = .string(name)
                }
            } else if let early {
                out["max_early_data"] = .int(early.size)
                out["early_data_header_name"] = .string(early.header)
            }
        }
        return Transport(json: .object(out), forcedALPN: ["http/1.1"], host: stated)
    }

    /// Takes `?ed=N&eh=H` out of a path. Any other query goes too, with a notice: the engine would escape its `?`, and
    /// servers match the path only.
    private mutating func earlyData(_ path: inout String) -> (size: Int, header: String)? {
        guard let (before, query) = path.cut(UInt8(ascii: "?")), query.utf8.contains(UInt8(ascii: "=")) else {
            return nil
        }
        var size: Int?
        var header: String?
        var others = false
        for item in query.split(separator: "&") {
            if item.hasPrefix("ed="), let number = Int(item.dropFirst(3)), number >= 0 {
                size = min(number, Int(UInt32.max))
            } else if item.hasPrefix("eh=") {
                header = item.dropFirst(3).percentDecoded
            } else {
                others = true
            }
        }
        path = String(before)
        if others { notice(.fieldDropped, "ws-opts.path") }
        guard let size, size > 0 else { return nil }
        return (size, header.flatMap { $0.isEmpty ? nil : $0 } ?? "Sec-WebSocket-Protocol")
    }

    private mutating func plainHTTP() throws(Fault) -> Transport {
        let options = try fields.inner("http-opts") ?? Fields()
        var out = JSONObject()
        out["type"] = "http"
        out["method"] = .string(try options.text("method", as: "http-opts.method") ?? "GET")
        var path = try options.list("path", as: "http-opts.path")?.first ?? "/"
        if !path.hasPrefix("/") { path = "/" + path }
        out["path"] = .string(path)
        if let headers = try options.inner("headers") {
            let hosts = try headers.list("host", as: "http-opts.headers") ?? []
            if !hosts.isEmpty { out["host"] = .strings(hosts) }
        }
        var others = JSONObject()
        for header in try options.pairs("headers", as: "http-opts.headers") where header.key.lowercased() != "host" {
            others[header.key] = .string(header.value)
        }
        if !others.isEmpty { out["headers"] = .object(others) }
        return Transport(json: .object(out))
    }

    private mutating func http2() throws(Fault) -> Transport {
        let options = try fields.inner("h2-opts") ?? Fields()
        var hosts = try options.list("host", as: "h2-opts.host") ?? []
        if hosts.isEmpty { hosts = ["www.example.com"] }
        var path = try options.text("path", as: "h2-opts.path") ?? "/"
        if !path.hasPrefix("/") { path = "/" + path }
        return Transport(
            json: ["type": "http", "host": .strings(hosts), "path": .string(path)], forcedALPN: ["h2"])
    }

    private mutating func grpc(tls: Bool) throws(Fault) -> Transport {
        let options = try fields.inner("grpc-opts") ?? Fields()
        var out = JSONObject()
        out["type"] = "grpc"
        // mihomo's default; the engine has none and would ask for `//Tun`.
        let name = try options.text("grpc-service-name", as: "grpc-opts.grpc-service-name") ?? "GunService"
        // Xray's way of naming a whole path; the engine has no such thing.
        guard !name.hasPrefix("/") else { throw Fault(.unsupportedTransport, "grpc-opts.grpc-service-name") }
        out["service_name"] = .string(name)
        if let ping = try options.number("ping-interval", as: "grpc-opts.ping-interval"), ping > 0 {
            out["idle_timeout"] = .string("\(ping)s")
        }
        if options.has("grpc-user-agent") { notice(.fieldDropped, "grpc-opts.grpc-user-agent") }
        return Transport(json: .object(out), forcedALPN: tls ? ["h2"] : nil)
    }
}
