// The rules, groups and resolvers that Trocket puts into every profile.

import JSON

/// What is ours in a profile, in the order the engine tries it.
enum OwnRouting {
    /// The selector and the urltest over these lines, and the direct outbound.
    static func groups(lines: [String], testURL: String) -> [JSON] {
        let times = probeTimes(lineCount: lines.count)
        return [
            [
                "type": "selector", "tag": .string(ProfileTag.proxy), "outbounds": .strings([ProfileTag.auto] + lines),
                "default": .string(ProfileTag.auto),
                // A switch is for new connections: a download goes on over its old line.
                "interrupt_exist_connections": false,
            ],
            [
                "type": "urltest", "tag": .string(ProfileTag.auto), "outbounds": .strings(lines),
                "url": .string(testURL), "interval": .string(times.interval),
                "idle_timeout": .string(times.idleTimeout), "tolerance": 100, "interrupt_exist_connections": false,
            ],
        ]
    }

    static let directOutbound: JSON = ["type": "direct", "tag": .string(ProfileTag.direct)]

    /// How often `auto` measures while it is in use, and how long after its last use it stops. The engine probes once at
    /// start, then only from the first connection through `auto` on, and its timer ends at the first tick that finds the
    /// last use older than `idle_timeout`. It refuses an interval above `idle_timeout`; with the two equal an idle machine
    /// sees at most one more round and then none of its wake-ups; QUIC lines keep the connection they were probed over, and
    /// wake it every ten seconds. Many lines are probed less often: a round is one TLS connection a line, through each
    /// provider's server.
    static func probeTimes(lineCount: Int) -> (interval: String, idleTimeout: String) {
        lineCount <= 100 ? ("10m", "10m") : ("30m", "30m")
    }

    /// Before any rule of the provider.
    static func firstRules() -> [JSON] {
        [
            ["action": "sniff"],
            [
                "type": "logical", "mode": "or", "rules": [["protocol": "dns"], ["port": 53]], "action": "hijack-dns",
            ],
            // The engine does not count the carriers' shared range (RFC 6598) as private.
            [
                "ip_is_private": true, "ip_cidr": ["100.64.0.0/10"], "action": "route",
                "outbound": .string(ProfileTag.direct),
            ],
            [
                "clash_mode": .string(RoutingMode.global.rawValue), "action": "route",
                "outbound": .string(ProfileTag.proxy),
            ],
        ]
    }

    /// After the rules of the provider. Rule mode is named even without rule-sets, so that the engine lists it.
    static func lastRules(names: Bool, addresses: Bool) -> [JSON] {
        let sets = (names ? [ProfileTag.domesticNames] : []) + (addresses ? [ProfileTag.domesticAddresses] : [])
        guard !sets.isEmpty else {
            // Sniffing once more changes nothing; the engine refuses route-options that set nothing.
            return [["clash_mode": .string(RoutingMode.rule.rawValue), "action": "sniff"]]
        }
        return [
            [
                "clash_mode": .string(RoutingMode.rule.rawValue), "rule_set": .strings(sets), "action": "route",
                "outbound": .string(ProfileTag.direct),
            ]
        ]
    }

    /// Whether a rule of the provider can only send its traffic direct, to where it was going, and so says nothing else
    /// about domestic addresses.
    static func goesDirect(_ rule: JSON) -> Bool {
        (rule["action"].string ?? "route") == "route" && rule["outbound"].string == ProfileTag.direct
            && ProviderRoute.routeOptions.allSatisfy { $0 == "outbound" || rule[$0].isNull }
    }

    /// An empty answer for IPv6 addresses; see `ShapingOptions.ForeignIPv6`.
    static func emptyAnswer(_ conditions: JSONObject) -> JSON {
        var rule = conditions
        rule["query_type"] = ["AAAA"]
        rule["action"] = "predefined"
        rule["rcode"] = "NOERROR"
        return .object(rule)
    }

    /// In Global mode every name goes through the line, whatever the provider says.
    static func firstDNSRules(_ options: ShapingOptions) -> [JSON] {
        let global: JSON = .string(RoutingMode.global.rawValue)
        var rules: [JSON] = []
        if options.foreignIPv6 == .answeredEmpty { rules.append(emptyAnswer(JSONObject([("clash_mode", global)]))) }
        rules.append(["clash_mode": global, "action": "route", "server": .string(ProfileTag.remoteResolver)])
        return rules
    }

    /// Domestic names at the domestic resolver; what is left is foreign.
    static func lastDNSRules(_ options: ShapingOptions, names: Bool) -> [JSON] {
        var rules: [JSON] = []
        if names {
            rules.append([
                "clash_mode": .string(RoutingMode.rule.rawValue), "rule_set": [.string(ProfileTag.domesticNames)],
                "action": "route", "server": .string(ProfileTag.directResolver),
            ])
        }
        if options.foreignIPv6 == .answeredEmpty { rules.append(emptyAnswer(JSONObject())) }
        return rules
    }
}
