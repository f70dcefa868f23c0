// Recognising a line again after it was renamed or moved: by protocol, server, port and credential.

internal import JSON
import Notation

/// Identities of lines.
///
/// An identity is 16 hexadecimal digits of a hash over the engine's type, server, port and credential, so that the same
/// line has the same identity whether it came as Clash YAML, as a link or in a sing-box configuration. Where several
/// lines of one subscription share all four (they differ in server name, path or only in name), each gets a second part
/// after a dot that tells them apart.
package enum LineIdentity {
    /// The part of an identity that all lines at the same server with the same credential share.
    package static func base(of identity: String) -> Substring { identity.prefix { $0 != "." } }

    /// Finds the line a stored identity means: itself, else the line with the same protocol, server, port and
    /// credential.
    package static func find(_ identity: String, in lines: [Line]) -> Line? {
        if let line = lines.first(where: { $0.identity == identity }) { return line }
        let base = base(of: identity)
        let candidates = lines.filter { Self.base(of: $0.identity) == base }
        // A stored second part that is gone means one particular line of several is gone.
        return identity.contains(".") && candidates.count > 1 ? nil : candidates.first
    }

    /// The engine object of a line, and its ShadowTLS helper.
    struct Subject {
        let object: JSON
        let through: JSON

        init(_ object: JSON, through: JSON? = nil) {
            self.object = object
            self.through = through ?? .null
        }
    }

    /// Engine objects by tag.
    static func objects(_ list: [JSON]) -> [String: JSON] {
        var out: [String: JSON] = [:]
        out.reserveCapacity(list.count)
        for item in list {
            if let tag = item["tag"].string { out[tag] = item }
        }
        return out
    }

    /// The subject of each line, found by its tag.
    static func subjects(_ lines: [Line], _ objects: [String: JSON]) -> [Subject] {
        lines.map { subject(objects[$0.tag] ?? .null, objects) }
    }

    /// An object with the ShadowTLS helper it dials through.
    static func subject(_ object: JSON, _ objects: [String: JSON]) -> Subject {
        let through = object["detour"].string.flatMap { objects[$0] }
        return Subject(object, through: through?["type"] == "shadowtls" ? through : nil)
    }

    /// Gives every line its identity.
    /// - Parameter subjects: one for each line.
    static func assign(to lines: inout [Line], _ subjects: [Subject]) {
        var bases: [String] = []
        var count: [String: Int] = [:]
        for subject in subjects {
            let base = SHA256.hex(Array(key(subject).utf8), bytes: 8)
            bases.append(base)
            count[base, default: 0] += 1
        }
        var used: [String: Int] = [:]
        for index in lines.indices where index < bases.count {
            let base = bases[index]
            guard count[base] ?? 0 > 1 else {
                lines[index].identity = base
                continue
            }
            let detail = detail(subjects[index]) + "\n" + lines[index].name
            var identity = base + "." + SHA256.hex(Array(detail.utf8), bytes: 4)
            let repeated = used[identity, default: 0] + 1
            used[identity] = repeated
            if repeated > 1 { identity += ".\(repeated)" }
            lines[index].identity = identity
        }
    }

    /// Protocol, server, port and credential as one text.
    static func key(_ subject: Subject) -> String {
        let type = subject.object["type"].string ?? ""
        let (server, port) = address(subject)
        return [type, server, port, credential(subject.object, type)].joined(separator: "\u{1F}")
    }

    /// What else tells two lines at one server apart: server name, transport, path and host.
    static func detail(_ subject: Subject) -> String {
        let transport = subject.object["transport"]
        let path =
            transport["path"].string.map { String($0.prefix { $0 != "?" }) } ?? transport["service_name"].string ?? ""
        let host =
            transport["headers"]["Host"].listed.first?.string ?? transport["host"].listed.first?.string ?? ""
        let name = subject.object["tls"]["server_name"].string ?? subject.through["tls"]["server_name"].string ?? ""
        return [name, transport["type"].string ?? "", path, host].map { $0.lowercased() }.joined(separator: "\u{1F}")
    }

    /// Where a line leads: its own server, or that of the ShadowTLS helper that dials for it.
    static func address(_ subject: Subject) -> (server: String, port: String) {
        var object = subject.object
        if object["server"].string == nil, !subject.through.isNull { object = subject.through }
        if object["server"].string == nil, let peer = object["peers"].array?.first {
            let server = peer["address"].string ?? peer["server"].string ?? ""
            return (server.lowercased(), text(peer["port"]) + text(peer["server_port"]))
        }
        let ports = object["server_ports"].listed.compactMap(\.string).sorted().joined(separator: ",")
        return (object["server"].string?.lowercased() ?? "", ports.isEmpty ? text(object["server_port"]) : ports)
    }

    private static func credential(_ object: JSON, _ type: String) -> String {
        let keys: [String]
        switch type {
        case "vmess", "vless": return object["uuid"].string?.lowercased() ?? ""
        case "tuic": keys = ["uuid", "password"]
        case "hysteria":
            if let auth = object["auth"].string.flatMap({ Base64.decode($0.utf8) }) {
                return String(decoding: auth, as: UTF8.self)
            }
            return object["auth_str"].string ?? ""
        case "socks", "http", "naive": keys = ["username", "password"]
        case "ssh": keys = ["user", "password", "private_key"]
        case "snell": keys = ["psk"]
        case "wireguard": keys = ["private_key"]
        default: keys = ["password"]
        }
        return keys.map { key in object[key].listed.compactMap(\.string).joined(separator: "\n") }.joined(
            separator: "\u{1F}")
    }

    private static func text(_ value: JSON) -> String {
        switch value {
        case .number(let text): text
        case .string(let text): text
        default: ""
        }
    }
}
