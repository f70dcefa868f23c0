// Turning the fields of one node into the engine's objects: what all types share, and which type goes where.

internal import ImportReport
internal import JSON
internal import YAML

/// A node that the engine can run, before names become tags.
struct ConvertedNode {
    /// The name as the source writes it; `dialer-proxy` refers to this.
    var rawName: String
    /// The cleaned name.
    var name: String
    var type: String
    var server: String
    var port: Int?
    var outbound: JSONObject
    /// The ShadowTLS object that dials for it.
    var helper: JSONObject?
    var isEndpoint: Bool
    /// The node or group it is to be dialled through.
    var dialer: String?
    /// Fields of the dialler that count only without one.
    var dialFields: JSONObject
    var notices: [Notice]
}

/// Converts one node; see `mapping.md` 2 and 3.
struct NodeConverter {
    let fields: Fields
    let capabilities: EngineCapabilities
    /// The DNS server that resolves the names of lines in every profile of ours.
    static let resolverTag = "dns-local"

    var outbound = JSONObject()
    var helper: JSONObject?
    var isEndpoint = false
    var server = ""
    var port: Int?
    var notices: [Notice] = []

    /// The type as it is called in reports.
    static func type(of fields: Fields) -> String {
        canonicalType(((try? fields.word("type")) ?? nil) ?? "")
    }

    /// One name for each type.
    static func canonicalType(_ word: String) -> String {
        switch word {
        case "shadowsocks": return "ss"
        case "hy2": return "hysteria2"
        case "wg": return "wireguard"
        case "socks": return "socks5"
        default: return word
        }
    }

    /// Converts a node.
    /// - Parameter cleaned: its name, cleaned.
    /// - Throws: `Fault` when it cannot run.
    static func convert(
        _ fields: Fields, name cleaned: String, capabilities: EngineCapabilities
    ) throws(Fault) -> ConvertedNode {
        var converter = NodeConverter(fields: fields, capabilities: capabilities)
        let type = type(of: fields)
        try converter.dispatch(type)
        if ["ss", "vmess", "vless", "trojan"].contains(type) == false, try fields.inner("smux")?.flag("enabled") == true
        {
            converter.notice(.fieldDropped, "smux")
        }
        let dial = try converter.dialFields()
        let rawName = ((try? fields.text("name")) ?? nil) ?? ""
        let shown = converter.port.map { "\(type) \(converter.server):\($0)" } ?? "\(type) \(converter.server)"
        let name = cleaned.isEmpty ? shown : cleaned
        return ConvertedNode(
            rawName: rawName, name: name, type: type, server: converter.server, port: converter.port,
            outbound: converter.outbound, helper: converter.helper, isEndpoint: converter.isEndpoint,
            dialer: try fields.text("dialer-proxy"), dialFields: dial,
            notices: converter.notices.map { Notice(name: name, code: $0.code, field: $0.field) })
    }

    private mutating func dispatch(_ type: String) throws(Fault) {
        switch type {
        case "ss": try shadowsocks()
        case "vmess": try vmess()
        case "vless": try vless()
        case "trojan": try trojan()
        case "anytls": try anytls()
        case "hysteria": try hysteria()
        case "hysteria2": try hysteria2()
        case "tuic": try tuic()
        case "wireguard": try wireGuard()
        case "snell": try snell()
        case "socks5": try socks()
        case "http": try http()
        case "ssh": try ssh()
        case "naive": try naive()
        case "direct", "dns", "reject", "reject-drop", "rematch", "pass", "block", "compatible": throw Fault(.notALine)
        case "": throw Fault(.unsupportedType, "missing")
        default: throw Fault(.unsupportedType, Names.short(type))
        }
    }

    // MARK: What the types share

    mutating func notice(_ code: NoticeCode, _ field: String) {
        notices.append(Notice(name: nil, code: code, field: field))
    }

    /// Starts the engine's object; the tag is filled in once it is known.
    mutating func begin(_ engineType: String) {
        outbound["type"] = .string(engineType)
        outbound["tag"] = ""
    }

    /// Reads `server` and `port` and writes them.
    mutating func endpoint() throws(Fault) {
        server = try serverField("server")
        outbound["server"] = .string(server)
        let number = try portField()
        port = number
        outbound["server_port"] = .int(number)
    }

    func serverField(_ key: String) throws(Fault) -> String {
        guard let node = fields.node(key) else { throw .missing(key) }
        guard let text = node.text, let host = Self.host(text) else { throw .bad(key) }
        return host
    }

    /// A host name or address without brackets; nil when it cannot be one.
    static func host(_ text: String) -> String? {
        var host = text.trimmed
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let bytes = host.utf8
        guard !bytes.isEmpty, bytes.count <= 253 else { return nil }
        return bytes.contains { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") } ? nil : host
    }

    func portField() throws(Fault) -> Int {
        guard let node = fields.node("port") else { throw .missing("port") }
        guard let text = node.text, let number = Fields.whole(text), (1...65535).contains(number) else {
            throw .bad("port")
        }
        return number
    }

    /// Writes `network` where the profile turns UDP off.
    mutating func network() throws(Fault) {
        if try fields.flag("udp") == false { outbound["network"] = "tcp" }
    }

    /// The fields that say how to reach the server, for whichever object does the dialling.
    private mutating func dialFields() throws(Fault) -> JSONObject {
        var dial = JSONObject()
        if try fields.flag("tfo") == true { dial["tcp_fast_open"] = true }
        if try fields.flag("mptcp") == true { dial["tcp_multi_path"] = true }
        let strategies = [
            "ipv4": "ipv4_only", "ipv6": "ipv6_only", "ipv4-prefer": "prefer_ipv4", "ipv6-prefer": "prefer_ipv6",
        ]
        if let version = try fields.word("ip-version"), let strategy = strategies[version], !isAddress(server) {
            dial["domain_resolver"] = ["server": .string(Self.resolverTag), "strategy": .string(strategy)]
        }
        for key in ["interface-name", "routing-mark"] where try fields.text(key) != nil { notice(.fieldDropped, key) }
        return dial
    }

    /// The lines of a PEM text.
    /// - Throws: `local_file` when it is a path instead.
    static func pem(_ text: String, _ field: String) throws(Fault) -> JSON {
        guard text.contains("-----BEGIN") else { throw Fault(.localFile, field) }
        let lines = text.split(whereSeparator: { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }).map { $0.trimmed }
        return .strings(lines.filter { !$0.isEmpty })
    }

    /// A speed in Mbit/s, rounded up; nil when the text is none (`mapping.md` 2.3).
    static func speed(_ text: String) -> Int? {
        let bytes = Array(text.trimmed.utf8)
        let digits = bytes.prefix(while: \.isDigit)
        guard !digits.isEmpty, digits.count <= 12, let number = Int(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        var unit = bytes[digits.count...]
        if unit.isEmpty { return number }
        while unit.first == 0x20 { unit = unit.dropFirst() }
        var scale = 1
        switch unit.first {
        case UInt8(ascii: "K"): scale = 1_000
        case UInt8(ascii: "M"): scale = 1_000_000
        case UInt8(ascii: "G"): scale = 1_000_000_000
        case UInt8(ascii: "T"): scale = 1_000_000_000_000
        default: break
        }
        if scale > 1 { unit = unit.dropFirst() }
        if unit.first == UInt8(ascii: "B") {
            scale *= 8
        } else if unit.first != UInt8(ascii: "b") {
            return nil
        }
        guard unit.dropFirst().elementsEqual("ps".utf8) else { return nil }
        let (bits, overflow) = number.multipliedReportingOverflow(by: scale)
        guard !overflow, bits <= 1 << 53 else { return nil }
        return (bits + 999_999) / 1_000_000
    }

    /// `multiplex` from `smux` (`mapping.md` 2.2). True when it is on.
    @discardableResult
    mutating func multiplex() throws(Fault) -> Bool {
        guard let smux = try fields.inner("smux"), try smux.flag("enabled", as: "smux.enabled") == true else {
            return false
        }
        var out = JSONObject()
        out["enabled"] = true
        let kind = try smux.word("protocol", as: "smux.protocol") ?? "h2mux"
        guard ["h2mux", "smux", "yamux"].contains(kind) else { throw .bad("smux.protocol") }
        out["protocol"] = .string(kind)
        let connections = try smux.number("max-connections", as: "smux.max-connections") ?? 0
        let least = try smux.number("min-streams", as: "smux.min-streams") ?? 0
        let most = try smux.number("max-streams", as: "smux.max-streams") ?? 0
        if connections > 0 { out["max_connections"] = .int(connections) }
        if least > 0 { out["min_streams"] = .int(least) }
        if most > 0, connections == 0, least == 0 { out["max_streams"] = .int(most) }
        if try smux.flag("padding", as: "smux.padding") == true { out["padding"] = true }
        if let brutal = try smux.inner("brutal-opts"), try brutal.flag("enabled") == true {
            let up = try brutal.text("up").flatMap(Self.speed) ?? 0
            let down = try brutal.text("down").flatMap(Self.speed) ?? 0
            if up > 0, down > 0 {
                out["brutal"] = ["enabled": true, "up_mbps": .int(up), "down_mbps": .int(down)]
            } else {
                notice(.fieldDropped, "smux.brutal-opts")
            }
        }
        if try smux.flag("only-tcp", as: "smux.only-tcp") == true { notice(.fieldDropped, "smux.only-tcp") }
        outbound["multiplex"] = .object(out)
        return true
    }
}
