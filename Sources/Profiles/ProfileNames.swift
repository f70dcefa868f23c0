// The tags and mode names that the shaped profile, the control API and the screen agree on.

/// The tags of what Trocket itself puts into a profile. No line may carry one of the outbound tags.
package enum ProfileTag {
    /// The selector over `auto` and every line: the one thing a user switches.
    package static let proxy = "proxy"
    /// The urltest over every line.
    package static let auto = "auto"
    /// The option-less direct outbound.
    package static let direct = "direct"
    /// The resolver asked over the physical link, for domestic names and for the names of the lines' servers.
    package static let directResolver = "dns-direct"
    /// What the converter of Clash lines calls that resolver.
    package static let convertedResolver = "dns-local"
    /// The resolver asked through the line, for everything else.
    package static let remoteResolver = "dns-remote"
    /// The bundled set of domestic domains.
    package static let domesticNames = "geosite-cn"
    /// The bundled set of domestic addresses.
    package static let domesticAddresses = "geoip-cn"

    /// The outbound tags that no line may carry.
    package static let reserved: Set<String> = [proxy, auto, direct]
}

/// The two ways to route, under the exact names the control API uses (`PATCH /configs {"mode": …}`). The engine takes the
/// list of modes from the rules that name them, and ignores a name no rule has, so both are named in every profile.
package enum RoutingMode: String, Sendable, CaseIterable {
    /// Domestic and private destinations direct, the rest through the line.
    case rule = "Rule"
    /// Everything but private destinations through the line.
    case global = "Global"
}
