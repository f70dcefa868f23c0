// Hysteria, Hysteria 2 and TUIC nodes (`mapping.md` 3.7 to 3.9).

internal import ImportReport
internal import JSON
import Notation

extension NodeConverter {
    mutating func hysteria() throws(Fault) {
        guard capabilities.quic else { throw Fault(.needsQUIC, "type") }
        begin("hysteria")
        try hoppingEndpoint(withMaximum: false)
        for key in ["protocol", "obfs-protocol"] {
            if let word = try fields.word(key), word != "udp" { throw Fault(.unsupportedFeature, "protocol") }
        }
        outbound["up_mbps"] = .int(try requiredSpeed("up", "up-speed"))
        outbound["down_mbps"] = .int(try requiredSpeed("down", "down-speed"))
        if let obfs = try fields.text("obfs") { outbound["obfs"] = .string(obfs) }
        if let auth = try fields.text("auth-str") {
            outbound["auth_str"] = .string(auth)
        } else if let auth = try fields.text("auth") {
            guard let bytes = Base64.decode(auth.utf8) else { throw .bad("auth") }
            outbound["auth"] = .string(Base64.encode(bytes))
        }
        if let window = try fields.number("recv-window-conn"), window > 0 {
            outbound["stream_receive_window"] = .int(window)
        }
        if let window = try fields.number("recv-window"), window > 0 {
            outbound["connection_receive_window"] = .int(window)
        }
        if try fields.flag("disable-mtu-discovery") == true { outbound["disable_path_mtu_discovery"] = true }
        outbound["tls"] = try tls(TLSNeeds(always: true, alpn: ["hysteria"], quic: true))
    }

    mutating func hysteria2() throws(Fault) {
        guard capabilities.quic else { throw Fault(.needsQUIC, "type") }
        begin("hysteria2")
        try hoppingEndpoint(withMaximum: true)
        if try fields.inner("realm-opts")?.flag("enable", as: "realm-opts.enable") == true {
            throw Fault(.unsupportedFeature, "realm-opts")
        }
        if let password = try fields.first("password", "auth") { outbound["password"] = .string(password) }
        if let up = try optionalSpeed("up") { outbound["up_mbps"] = .int(up) }
        if let down = try optionalSpeed("down") { outbound["down_mbps"] = .int(down) }
        if let obfs = try hysteria2Obfs() { outbound["obfs"] = obfs }
        if let profile = try fields.word("bbr-profile") { outbound["bbr_profile"] = .string(profile) }
        if let window = try fields.number("max-stream-receive-window"), window > 0 {
            outbound["stream_receive_window"] = .int(window)
        }
        if let window = try fields.number("max-connection-receive-window"), window > 0 {
            outbound["connection_receive_window"] = .int(window)
        }
        outbound["tls"] = try tls(TLSNeeds(always: true, alpn: ["h3"], quic: true))
    }

    private func hysteria2Obfs() throws(Fault) -> JSON? {
        guard let kind = try fields.word("obfs"), kind != "none" else { return nil }
        guard kind == "salamander" || kind == "gecko" else { throw Fault(.unsupportedFeature, "obfs") }
        var out = JSONObject()
        out["type"] = .string(kind)
        out["password"] = .string(try fields.required("obfs-password"))
        if let size = try fields.number("obfs-min-packet-size"), size > 0 { out["min_packet_size"] = .int(size) }
        if let size = try fields.number("obfs-max-packet-size"), size > 0 { out["max_packet_size"] = .int(size) }
        return .object(out)
    }

    mutating func tuic() throws(Fault) {
        guard capabilities.quic else { throw Fault(.needsQUIC, "type") }
        begin("tuic")
        if fields.has("token") { throw Fault(.unsupportedFeature, "token (TUIC v4)") }
        try endpoint()
        let uuid = try fields.required("uuid").trimmed
        guard isUUID(uuid) else { throw .bad("uuid") }
        outbound["uuid"] = .string(uuid)
        if let password = try fields.text("password") { outbound["password"] = .string(password) }
        if let control = try fields.word("congestion-controller") {
            if ["cubic", "new_reno", "bbr"].contains(control) {
                outbound["congestion_control"] = .string(control)
            } else {
                notice(.fieldDropped, "congestion-controller")
            }
        }
        if try fields.flag("udp-over-stream") == true {
            outbound["udp_over_stream"] = true
        } else if try fields.word("udp-relay-mode") == "quic" {
            outbound["udp_relay_mode"] = "quic"
        }
        if try fields.flag("reduce-rtt") == true { outbound["zero_rtt_handshake"] = true }
        if let beat = try fields.number("heartbeat-interval"), beat > 0 { outbound["heartbeat"] = .string("\(beat)ms") }
        outbound["tls"] = try tls(TLSNeeds(always: true, alpn: ["h3"], quic: true))
        if fields.has("ip") {
            server = try serverField("ip")
            outbound["server"] = .string(server)
        }
    }

    // MARK: Ports and speeds

    /// `server` with `port`, or with `ports` to hop between.
    private mutating func hoppingEndpoint(withMaximum: Bool) throws(Fault) {
        server = try serverField("server")
        outbound["server"] = .string(server)
        guard let ports = try fields.list("ports")?.joined(separator: ","), !ports.isEmpty else {
            let number = try portField()
            port = number
            outbound["server_port"] = .int(number)
            return
        }
        let ranges = try Self.ranges(ports)
        port = ranges.first?.lowerBound
        outbound["server_ports"] = .strings(ranges.map { "\($0.lowerBound):\($0.upperBound)" })
        guard let interval = try fields.word("hop-interval") else { return }
        let ends = interval.split(separator: "-").map { part -> Int? in
            let digits = part.trimmed
            return Int(digits.hasSuffix("s") ? String(digits.dropLast()) : digits)
        }
        guard (1...2).contains(ends.count), let first = ends[0], first >= 0, first <= 1 << 20 else {
            notice(.fieldDropped, "hop-interval")
            return
        }
        let low = max(first, 5)
        outbound["hop_interval"] = .string("\(low)s")
        if ends.count == 2, let last = ends[1], last > low, last <= 1 << 20, withMaximum {
            outbound["hop_interval_max"] = .string("\(last)s")
        }
    }

    /// Port ranges such as `443,5000-6000` or `443/5000-6000`.
    static func ranges(_ text: String) throws(Fault) -> [ClosedRange<Int>] {
        var out: [ClosedRange<Int>] = []
        for item in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "/") }) {
            let item = Substring(item).trimmed
            let ends = item.utf8.split(
                maxSplits: 1, omittingEmptySubsequences: false,
                whereSeparator: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }
            ).map { Fields.whole(String(Substring($0))) }
            guard let first = ends.first, let low = first, let last = ends.last, let high = last,
                (1...65535).contains(low),
                low <= high, high <= 65535, out.count < 1024
            else { throw .bad("ports") }
            out.append(low...high)
        }
        guard !out.isEmpty else { throw .bad("ports") }
        return out
    }

    private func requiredSpeed(_ key: String, _ other: String) throws(Fault) -> Int {
        guard let text = try fields.first(key, other) else { throw .missing(key) }
        guard let speed = Self.speed(text), speed > 0 else { throw .bad(key) }
        return speed
    }

    private mutating func optionalSpeed(_ key: String) throws(Fault) -> Int? {
        guard let text = try fields.text(key) else { return nil }
        guard let speed = Self.speed(text) else {
            notice(.fieldDropped, key)
            return nil
        }
        return speed > 0 ? speed : nil
    }
}
