// The provider's route rules: kept where they still mean what they meant, each loss reported.

import ImportReport
import JSON

/// Answers where a name in a rule leads in the new profile.
struct RuleTargets {
    let groups: ProviderGroups
    let lines: Lines
    let documentTags: [String: String]

    /// True when the name is a line's, not a group's.
    func isLine(_ named: String) -> Bool {
        if case .line = groups.route(named) { return true }
        return false
    }

    /// The outbound tag to use, or nil for a refusal.
    func outbound(_ named: String) -> String? {
        switch groups.route(named) {
        case .direct: ProfileTag.direct
        case .reject: nil
        case .proxy: ProfileTag.proxy
        case .line(let tag): lines.tag(of: documentTags[tag] ?? tag) ?? ProfileTag.proxy
        // Never direct by default: a rule whose line is gone must not put its traffic on the open network.
        case .missing: lines.tag(of: documentTags[named] ?? named) ?? ProfileTag.proxy
        }
    }
}

/// The rules of a provider's `route`, translated.
/// Source: <https://sing-box.sagernet.org/configuration/route/rule_action/>.
struct ProviderRoute {
    private(set) var rules: [JSON] = []
    /// What each rule was made from; nil for the provider's default.
    private(set) var origins: [ProviderPart?] = []
    /// The provider's own default, when it is `direct`; a refusal as default becomes a last rule.
    private(set) var final: String?
    private(set) var changes: [Change] = []

    private static let unsupportedOptions = [
        "network_strategy", "fallback_delay", "tls_spoof", "tls_spoof_method", "network_type", "fallback_network_type",
    ]
    static let routeOptions = [
        "outbound", "override_address", "override_port", "udp_disable_domain_unmapping", "udp_connect", "udp_timeout",
        "tls_fragment", "tls_fragment_fallback_delay", "tls_record_fragment",
    ]
    private static let dialOptions = [
        "bind_interface", "inet4_bind_address", "inet6_bind_address", "bind_address_no_port", "protect_path",
        "routing_mark", "reuse_addr", "netns", "connect_timeout", "tcp_fast_open", "tcp_multi_path",
        "disable_tcp_keep_alive", "tcp_keep_alive", "tcp_keep_alive_interval", "udp_fragment", "domain_resolver",
    ]

    init(
        _ document: JSON?, targets: RuleTargets, conditions: RuleConditions, refused: [ProviderPart: String] = [:]
    ) {
        let route = document?["route"] ?? .null
        keepExcludedAddresses(document?["inbounds"] ?? .null, refused)
        for (at, rule) in route["rules"].listed.enumerated() {
            let place = "route.rules[\(at)]"
            if let why = refused[.routeRule(at)] {
                changes.append(Change(place: place, what: "removed", reason: why))
                continue
            }
            add(rule, place: place, targets: targets, conditions: conditions)
            if origins.count < rules.count { origins.append(.routeRule(at)) }
        }
        guard let named = route["final"].string, !named.isEmpty else { return }
        switch targets.outbound(named) {
        case nil:
            rules.append(["clash_mode": .string(RoutingMode.rule.rawValue), "action": "reject"])
            origins.append(nil)
        case ProfileTag.direct: final = ProfileTag.direct
        default:
            // A line as the default would be out of the selector's reach.
            guard targets.isLine(named) else { break }
            changes.append(
                Change(place: "route.final", what: "→ \(ProfileTag.proxy)", reason: "one selector over all lines"))
        }
    }

    /// What the provider's TUN left out goes direct. As a rule: in a TUN, any such address makes this machine's services
    /// unreachable from outside (measured).
    private mutating func keepExcludedAddresses(_ inbounds: JSON, _ refused: [ProviderPart: String]) {
        for (at, inbound) in inbounds.listed.enumerated() where inbound["type"] == "tun" {
            let excluded = inbound["route_exclude_address"].listed.filter { $0.string?.contains("/") == true }
            guard !excluded.isEmpty else { continue }
            let place = "inbounds[\(at)].route_exclude_address"
            if let why = refused[.excludedAddresses(at)] {
                changes.append(Change(place: place, what: "removed", reason: why))
                continue
            }
            rules.append(["ip_cidr": .array(excluded), "action": "route", "outbound": .string(ProfileTag.direct)])
            origins.append(.excludedAddresses(at))
            changes.append(
                Change(
                    place: place, what: "→ route rule to \(ProfileTag.direct)",
                    reason: "the tunnel brings its own inbounds"))
        }
    }

    private mutating func add(_ rule: JSON, place: String, targets: RuleTargets, conditions: RuleConditions) {
        func remove(_ reason: String) { changes.append(Change(place: place, what: "removed", reason: reason)) }
        guard let object = rule.object else { return remove("no rule") }
        switch conditions.judge(object) {
        case .impossible(let reason), .unsound(let reason): remove(reason)
        case .kept(.object(let kept)):
            if let key = Expressions.names.first(where: { kept[$0] != object[$0] }) {
                changes.append(
                    Change(
                        place: "\(place).\(key)", what: "item removed",
                        reason: "the engine refuses this name or expression"))
            }
            act(kept, place: place, targets: targets)
        case .kept: remove("no rule")
        }
    }

    private mutating func act(_ source: JSONObject, place: String, targets: RuleTargets) {
        var rule = source
        for option in Self.unsupportedOptions where rule[option] != nil {
            rule.removeValue(forKey: option)
            changes.append(Change(place: "\(place).\(option)", what: "removed", reason: "not for this machine"))
        }
        let action = rule["action"]?.string ?? "route"
        switch action.isEmpty ? "route" : action {
        case "route", "bypass":
            guard let named = rule["outbound"]?.string, !named.isEmpty else {
                changes.append(Change(place: place, what: "removed", reason: "names no outbound"))
                return
            }
            send(&rule, to: named, place: place, targets: targets)
        case "direct":
            for option in Self.dialOptions { rule.removeValue(forKey: option) }
            rule["action"] = "route"
            rule["outbound"] = .string(ProfileTag.direct)
            changes.append(
                Change(place: place, what: "action direct → \(ProfileTag.direct)", reason: "dial fields are not kept"))
        case "sniff", "hijack-dns":
            changes.append(Change(place: place, what: "removed", reason: "sniffing and DNS capture come first already"))
            return
        case "resolve":
            // The DNS rules choose the resolver, so that no name goes past the line by this way.
            rule.removeValue(forKey: "server")
        case "reject", "route-options": break
        default:
            changes.append(Change(place: place, what: "removed", reason: "unknown action"))
            return
        }
        rules.append(.object(rule))
    }

    private mutating func send(_ rule: inout JSONObject, to named: String, place: String, targets: RuleTargets) {
        if var outbound = targets.outbound(named) {
            // A rule that takes everything would put the selector out of reach.
            if outbound != ProfileTag.direct, !RuleConditions.hasConditions(.object(rule)) {
                outbound = ProfileTag.proxy
            }
            if outbound != named {
                changes.append(
                    Change(
                        place: place + ".outbound", what: "→ \(outbound)", reason: "groups are replaced by one selector"
                    ))
            }
            rule["action"] = "route"
            rule["outbound"] = .string(outbound)
        } else {
            for option in Self.routeOptions { rule.removeValue(forKey: option) }
            rule["action"] = "reject"
            changes.append(Change(place: place, what: "→ action reject", reason: "names a block outbound"))
        }
    }
}
