// The provider's resolvers and DNS rules: kept where they neither leak names past the line nor touch this machine.

import ImportReport
import JSON

/// The parts of a provider's `dns` that stay.
///
/// A resolver stays when it is a plain server (UDP, TCP, TLS, HTTPS, QUIC, HTTP/3) or a table of names. The system's own
/// resolver is not asked: while connected it asks the engine, and the two would call each other; `dns-direct` stands in
/// for it. Made-up addresses (`fakeip`) are not kept: they would outlive the connection in applications' caches. A rule
/// that hands names to a resolver outside the line stays only when it says which names.
struct ProviderDNS {
    private enum Fate: Equatable {
        case kept(tag: String, throughLine: Bool)
        case replaced
        case gone(String)
    }

    private let section: JSON
    private let refused: [ProviderPart: String]
    private let hasQUIC: Bool
    private var fates: [String: Fate] = [:]
    private(set) var servers: [JSON] = []
    private(set) var rules: [JSON] = []
    /// What each server and each rule was made from.
    private(set) var serverOrigins: [ProviderPart?] = []
    private(set) var ruleOrigins: [ProviderPart?] = []
    private(set) var settings = JSONObject()
    private(set) var final: String?
    private(set) var changes: [Change] = []

    private static let plain: Set<String> = ["udp", "tcp", "tls", "https", "quic", "h3"]
    private static let systemLike: Set<String> = ["local", "dhcp", "resolved", "mdns"]
    private static let keptSettings = ["strategy", "client_subnet", "disable_cache", "disable_expire", "optimistic"]
    private static let naming = ["domain", "domain_suffix", "domain_keyword", "domain_regex", "rule_set"]

    /// - Parameters:
    ///   - refused: what to leave out, and why.
    ///   - hasQUIC: whether the engine can ask resolvers over QUIC.
    init(_ section: JSON, refused: [ProviderPart: String] = [:], hasQUIC: Bool = true) {
        self.section = section
        self.refused = refused
        self.hasQUIC = hasQUIC
    }

    /// The resolvers a line may use for its own server's name.
    var directTags: Set<String> { [ProfileTag.directResolver] }

    /// Translates servers, rules and settings.
    mutating func resolve(targets: RuleTargets, conditions: RuleConditions, options: ShapingOptions) {
        var pool = TagPool(reserved: [ProfileTag.directResolver, ProfileTag.remoteResolver])
        for (at, server) in section["servers"].listed.enumerated() {
            keep(server, place: "dns.servers[\(at)]", refusal: refused[.resolver(at)], targets: targets, pool: &pool)
            if serverOrigins.count < servers.count { serverOrigins.append(.resolver(at)) }
        }
        var evaluated = false
        for (at, rule) in section["rules"].listed.enumerated() {
            keep(
                rule, place: "dns.rules[\(at)]", refusal: refused[.dnsRule(at)], conditions: conditions,
                evaluated: &evaluated, emptyIPv6: options.foreignIPv6 == .answeredEmpty)
            while ruleOrigins.count < rules.count { ruleOrigins.append(.dnsRule(at)) }
        }
        for key in Self.keptSettings where RuleConditions.isSet(section[key]) {
            if let why = refused[.dnsSetting(key)] {
                changes.append(Change(place: "dns.\(key)", what: "removed", reason: why))
            } else {
                settings[key] = section[key]
            }
        }
        // Lines and sites with IPv4 only would be out of reach.
        if settings["strategy"]?.string == "ipv6_only" { settings["strategy"] = nil }
        guard let named = section["final"].string ?? section["servers"].listed.first?["tag"].string else { return }
        if case .kept(let tag, true) = fates[named] {
            final = tag
        } else if section["final"].string != nil {
            changes.append(
                Change(
                    place: "dns.final", what: "→ \(ProfileTag.remoteResolver)",
                    reason: "names without a rule go through the line"))
        }
    }

    private mutating func keep(
        _ source: JSON, place: String, refusal: String?, targets: RuleTargets, pool: inout TagPool
    ) {
        guard let old = source["tag"].string, !old.isEmpty, fates[old] == nil else {
            changes.append(Change(place: place, what: "removed", reason: "no tag of its own"))
            return
        }
        var type = source["type"].string ?? ""
        var server = source
        if let refusal {
            fates[old] = .gone(refusal)
            changes.append(Change(place: place, what: "removed", reason: refusal))
            return
        }
        if type == "h3", !hasQUIC {
            // The same server, path and TLS settings over TCP; nothing but the transport changes.
            type = "https"
            server["type"] = "https"
            changes.append(
                Change(place: place + ".type", what: "h3 → https", reason: "the engine was built without QUIC"))
        }
        if type == "quic", !hasQUIC {
            let why = "the engine was built without QUIC (needs_quic)"
            fates[old] = .gone(why)
            changes.append(Change(place: place, what: "removed", reason: why))
            return
        }
        var throughLine = false
        if Self.systemLike.contains(type) {
            fates[old] = .replaced
            changes.append(
                Change(
                    place: place, what: "→ \(ProfileTag.directResolver)",
                    reason: "the system's resolver asks the engine while connected"))
            return
        }
        guard Self.plain.contains(type) || type == "hosts" else {
            let why = type == "fakeip" ? "made-up addresses outlive the connection" : "not a plain resolver"
            fates[old] = .gone(why)
            changes.append(Change(place: place, what: "removed", reason: why))
            return
        }
        guard type == "hosts" || server["server"].string?.isEmpty == false else {
            fates[old] = .gone("names no server")
            changes.append(Change(place: place, what: "removed", reason: "names no server"))
            return
        }
        HostileFields.strip(&server, place: { place }, changes: &changes)
        if type == "hosts" {
            if server.removeMember("path") != nil {
                changes.append(Change(place: place + ".path", what: "removed", reason: "opens a file of this machine"))
            }
        } else if let detour = server["detour"].string, !detour.isEmpty {
            guard let outbound = targets.outbound(detour) else {
                fates[old] = .gone("its detour blocks")
                changes.append(Change(place: place, what: "removed", reason: "its detour blocks"))
                return
            }
            throughLine = outbound != ProfileTag.direct
            if throughLine { server["detour"] = .string(outbound) } else { server.removeMember("detour") }
            if outbound != detour {
                changes.append(
                    Change(
                        place: place + ".detour", what: throughLine ? "→ \(outbound)" : "removed",
                        reason: throughLine ? "groups are replaced by one selector" : "direct is the default"))
            }
        } else {
            server.removeMember("detour")
        }
        if type != "hosts" { repairResolver(&server, throughLine: throughLine) }
        let tag = pool.take(old)
        server["tag"] = .string(tag)
        servers.append(server)
        fates[old] = .kept(tag: tag, throughLine: throughLine)
    }

    /// A server that is a name needs a resolver unless a line resolves it; only ours is certain to exist and to need none.
    private func repairResolver(_ server: inout JSON, throughLine: Bool) {
        let named = server["server"].string.map { !Self.isAddress($0) } ?? false
        let resolver = server.removeMember("domain_resolver")
        guard named, !throughLine else { return }
        if var object = resolver, case .object = object {
            object["server"] = .string(ProfileTag.directResolver)
            server["domain_resolver"] = object
        } else {
            server["domain_resolver"] = .string(ProfileTag.directResolver)
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        if text.utf8.contains(UInt8(ascii: ":")) { return true }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    private mutating func keep(
        _ rule: JSON, place: String, refusal: String?, conditions: RuleConditions, evaluated: inout Bool,
        emptyIPv6: Bool
    ) {
        let action = rule["action"].string ?? "route"
        func remove(_ reason: String) {
            changes.append(Change(place: place, what: "removed", reason: reason))
            // What a removed `evaluate` would have answered must not be looked at by the rules after it.
            if action == "evaluate" { evaluated = false }
        }
        if let refusal { return remove(refusal) }
        guard let object = rule.object else { return remove("no rule") }
        var kept: JSONObject
        switch conditions.judge(object) {
        case .impossible(let reason), .unsound(let reason): return remove(reason)
        case .kept(let value): kept = value.object ?? JSONObject()
        }
        if action == "respond" || Self.usesResponse(rule), !evaluated { return remove("its first half is gone") }
        guard action == "route" || action == "evaluate" || action.isEmpty else {
            guard ["respond", "route-options", "reject", "predefined"].contains(action) else {
                return remove("unknown action")
            }
            rules.append(.object(kept))
            return
        }
        guard let old = kept["server"]?.string else { return remove("names no resolver") }
        switch fates[old] {
        case nil: return remove("its resolver does not exist")
        case .gone(let why): return remove(why)
        case .kept(let tag, true):
            kept["server"] = .string(tag)
            if emptyIPv6, action != "evaluate", kept["type"]?.string != "logical", kept["query_type"] == nil {
                var conditions = kept
                for key in Self.routeKeys { conditions.removeValue(forKey: key) }
                rules.append(OwnRouting.emptyAnswer(conditions))
            }
        case .kept(let tag, false):
            guard Self.saysWhichNames(kept) else {
                return remove("would show every name to a resolver outside the line")
            }
            kept["server"] = .string(tag)
        case .replaced:
            guard Self.saysWhichNames(kept) else {
                return remove("would show every name to a resolver outside the line")
            }
            kept["server"] = .string(ProfileTag.directResolver)
        }
        if action == "evaluate" { evaluated = true }
        rules.append(.object(kept))
    }

    private static let routeKeys = [
        "action", "server", "strategy", "timeout", "disable_cache", "disable_optimistic_cache", "rewrite_ttl",
        "client_subnet", "remove_client_subnet", "race", "speculative",
    ]

    private static func usesResponse(_ rule: JSON) -> Bool {
        RuleConditions.isSet(rule["match_response"]) || rule["rules"].listed.contains { usesResponse($0) }
    }

    /// True when the rule takes only names it lists. A part of an `and` is enough; of an `or` every part must.
    private static func saysWhichNames(_ rule: JSONObject) -> Bool {
        if rule["invert"]?.bool ?? false { return false }
        guard rule["type"]?.string == "logical" else {
            return naming.contains { rule[$0].map(RuleConditions.isSet) ?? false }
        }
        let parts = rule["rules"]?.listed.compactMap(\.object) ?? []
        return rule["mode"]?.string == "and"
            ? parts.contains(where: saysWhichNames) : !parts.isEmpty && parts.allSatisfy(saysWhichNames)
    }
}
