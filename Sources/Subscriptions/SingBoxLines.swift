// The lines of a sing-box configuration: which of its outbounds and endpoints a user can pick.

package import JSON

/// Lines found in engine objects.
package struct SingBoxLines: Sendable {
    /// What the user can pick, outbounds before endpoints, in order.
    package var lines: [Line] = []
    /// Texts of pseudo-lines.
    package var info: [String] = []
    /// Tags of the objects that are only pseudo-lines; they belong in no group.
    package var infoTags: Set<String> = []

    /// Types that route, block or help, and lead nowhere themselves.
    private static let notLines: Set<String> = [
        "", "selector", "urltest", "direct", "block", "dns", "shadowtls", "bond", "fallback", "loadbalance", "tor",
        "tailscale",
    ]

    /// Finds the lines among the objects of a (migrated) configuration. Objects are left as they are.
    package static func from(outbounds: [JSON], endpoints: [JSON]) -> SingBoxLines {
        var out = SingBoxLines()
        let objects = LineIdentity.objects(outbounds + endpoints)
        var candidates: [(object: JSON, name: String, isInfo: Bool, isPlaceholder: Bool)] = []
        for object in outbounds + endpoints {
            guard let tag = object["tag"].string, let type = object["type"].string, !notLines.contains(type) else {
                continue
            }
            let name = Names.cleaned(tag)
            let server = LineIdentity.address(LineIdentity.subject(object, objects)).server
            let isInfo = InfoNodes.isInfo(name: name, server: server)
            candidates.append((object, name, isInfo, InfoNodes.isPlaceholder(server)))
        }
        // As in other dialects: if every line looked like a message, the pattern has misfired.
        let misfired = candidates.allSatisfy(\.isInfo) && candidates.contains { !$0.isPlaceholder }
        for candidate in candidates {
            guard let tag = candidate.object["tag"].string else { continue }
            if candidate.isInfo, !misfired {
                out.info.append(candidate.name)
                out.infoTags.insert(tag)
                continue
            }
            let (server, port) = LineIdentity.address(LineIdentity.subject(candidate.object, objects))
            let first = port.prefix { $0.isWholeNumber }
            out.lines.append(
                Line(
                    name: candidate.name.isEmpty ? server : candidate.name, tag: tag, type: type(candidate.object),
                    server: server, port: Int(first), multiplier: Multiplier.of(candidate.name), identity: ""))
        }
        LineIdentity.assign(to: &out.lines, LineIdentity.subjects(out.lines, objects))
        return out
    }

    /// The type as other dialects call it, so that a line has one type whatever it came in.
    private static func type(_ object: JSON) -> String {
        switch object["type"].string ?? "" {
        case "shadowsocks": "ss"
        case "socks": "socks5"
        case let type: type
        }
    }
}
