// The configuration of the throw-away engine that measures lines while nothing is connected.

package import JSON

/// One whole document: the lines of a shaped profile, their resolver and the control API on loopback. No TUN, no groups,
/// no rules, so that nothing is probed but what is asked for and nothing on the host changes.
package enum ProbeConfiguration {
    /// - Parameters:
    ///   - profile: a shaped profile.
    ///   - settings: the control API; its cache file is left out, because two engines on one file stop the second.
    ///   - mixedPort: a loopback port for an HTTP and SOCKS inbound; nil for none. It dials `outbound`.
    ///   - outbound: what the inbound's traffic goes through; a line's tag.
    package static func document(
        profile: JSON, settings: EngineSettings, mixedPort: Int? = nil, outbound: String = ProfileTag.direct
    ) -> JSON {
        var settings = settings
        settings.cacheFile = nil
        var document = settings.document
        if !profile["certificate"].isNull { document["certificate"] = profile["certificate"] }
        let resolvers = profile["dns"]["servers"].listed.filter { $0["tag"].string == ProfileTag.directResolver }
        document["dns"] = ["servers": .array(resolvers)]
        if let mixedPort {
            document["inbounds"] = [
                ["type": "mixed", "tag": "probe", "listen": "127.0.0.1", "listen_port": .int(mixedPort)]
            ]
        }
        if !profile["endpoints"].isNull { document["endpoints"] = profile["endpoints"] }
        document["outbounds"] = .array(
            profile["outbounds"].listed.filter { !["selector", "urltest"].contains($0["type"].string ?? "") })
        document["route"] = [
            "final": .string(outbound), "default_domain_resolver": .string(ProfileTag.directResolver),
        ]
        return document
    }
}
