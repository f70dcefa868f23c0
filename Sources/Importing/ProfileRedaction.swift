// A profile without its secrets: what may go into a bug report.

package import JSON

/// Takes out of a profile whatever tells where the lines lead and how one gets in. What is kept is listed; everything else
/// that is a text goes, so that a field nobody thought of is no leak.
package enum ProfileRedaction {
    /// Members of lines whose texts say nothing about the user or the provider.
    private static let open: Set<String> = [
        "type", "method", "security", "network", "flow", "congestion_control", "udp_relay_mode", "packet_encoding",
        "plugin", "alpn", "fingerprint", "protocol", "strategy", "idle_timeout", "ping_timeout", "hop_interval",
        "heartbeat",
        "idle_session_check_interval", "idle_session_timeout", "min_version", "max_version", "bbr_profile", "obfs_mode",
        "early_data_header_name",
    ]
    private static let mask = JSON.string("<redacted>")

    /// The profile with lines renamed `line-1`, `line-2` … wherever they are named, and their texts masked.
    package static func redact(_ profile: JSON) -> JSON {
        var names: [String: String] = [:]
        for section in ["outbounds", "endpoints"] {
            for object in profile[section].listed {
                guard let tag = object["tag"].string, !isOurs(object) else { continue }
                names[tag] = "line-\(names.count + 1)"
            }
        }
        var redacted = profile
        for section in ["outbounds", "endpoints"] where !profile[section].isNull {
            redacted[section] = .array(profile[section].listed.map { line($0, names) })
        }
        if !profile["certificate"].isNull { redacted["certificate"] = mask }
        if !profile["dns"]["servers"].isNull {
            redacted["dns"]["servers"] = .array(
                profile["dns"]["servers"].listed.map { server in
                    isOurResolver(server) ? server : line(server, names)
                })
        }
        redacted["dns"] = renamed(redacted["dns"], names)
        redacted["route"] = renamed(redacted["route"], names)
        return redacted
    }

    /// The texts `redact` masks, names of lines left aside: what must not stand in any other text either.
    package static func secrets(_ profile: JSON) -> Set<String> {
        var found: Set<String> = []
        func collect(_ value: JSON, key: String?) {
            if let key, open.contains(key) || ["tag", "detour", "outbound", "outbounds"].contains(key) { return }
            switch value {
            case .string(let text): found.insert(text)
            case .array(let items): items.forEach { collect($0, key: nil) }
            case .object(let object): object.members.forEach { collect($0.value, key: $0.key) }
            default: break
            }
        }
        for line in profile["outbounds"].listed + profile["endpoints"].listed where !isOurs(line) {
            collect(line, key: nil)
        }
        for server in profile["dns"]["servers"].listed where !isOurResolver(server) { collect(server, key: nil) }
        return found
    }

    /// Groups and the direct line, which the product makes itself.
    private static func isOurs(_ outbound: JSON) -> Bool {
        ["selector", "urltest", "direct"].contains(outbound["type"].string)
    }

    private static func isOurResolver(_ server: JSON) -> Bool {
        ["dns-direct", "dns-remote"].contains(server["tag"].string)
    }

    private static func line(_ value: JSON, _ names: [String: String]) -> JSON {
        guard case .object(let members) = value else { return masked(value) }
        if isOurs(value) { return renamed(value, names) }
        var out = JSONObject()
        for member in members.members {
            switch member.key {
            case "tag", "detour", "outbound", "outbounds": out[member.key] = renamed(member.value, names)
            case _ where open.contains(member.key): out[member.key] = member.value
            default: out[member.key] = masked(member.value)
            }
        }
        return .object(out)
    }

    private static func masked(_ value: JSON) -> JSON {
        switch value {
        case .string: mask
        case .array(let items): .array(items.map(masked))
        case .object(let members):
            .object(
                JSONObject(
                    members.members.map { ($0.key, open.contains($0.key) ? $0.value : masked($0.value)) }))
        // Ports and numbers such as `reserved` are part of where a line leads.
        case .number: .int(0)
        case .null, .bool: value
        }
    }

    private static func renamed(_ value: JSON, _ names: [String: String]) -> JSON {
        switch value {
        case .string(let text): names[text].map(JSON.string) ?? value
        case .array(let items): .array(items.map { renamed($0, names) })
        case .object(let members): .object(JSONObject(members.members.map { ($0.key, renamed($0.value, names)) }))
        default: value
        }
    }
}
