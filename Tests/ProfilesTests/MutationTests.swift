// Seeded random damage to a provider's document: shaping never traps and never lets a reference dangle.

import ImportReport
import JSON
import Testing

@testable import Profiles

/// A small generator that gives the same sequence everywhere (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Replaces some values by others of any kind, and doubles or drops some members.
func damage(_ value: JSON, _ random: inout Seeded) -> JSON {
    if Int.random(in: 0..<40, using: &random) == 0 {
        let others: [JSON] = [
            nil, true, 0, -1, "", "HK", "direct", "proxy", "Proxies", [], [[]], ["HK"], [nil], ["type": "selector"],
            ["tag": 5], "local", .number("1e999"),
        ]
        return others.randomElement(using: &random) ?? nil
    }
    switch value {
    case .array(let items):
        var items = items.map { damage($0, &random) }
        if Int.random(in: 0..<20, using: &random) == 0, let one = items.randomElement(using: &random) {
            items.append(one)
        }
        return .array(items)
    case .object(let object):
        var result = JSONObject()
        for member in object.members where Int.random(in: 0..<40, using: &random) != 0 {
            result[member.key] = damage(member.value, &random)
        }
        return .object(result)
    default: return value
    }
}

@Suite struct MutationTests {
    private let document: JSON = [
        "dns": [
            "servers": [
                ["type": "https", "tag": "far", "server": "dns.example", "detour": "Proxies"],
                ["type": "udp", "tag": "near", "server": "192.0.2.9", "detour": "direct"],
                ["type": "local", "tag": "system"], ["type": "hosts", "tag": "h", "path": "/etc/hosts"],
            ],
            "rules": [
                ["domain": "a", "server": "far"], ["rule_set": ["s", "t"], "server": "near"],
                ["domain": "e", "action": "evaluate", "server": "far"], ["match_response": true, "action": "respond"],
                ["type": "logical", "mode": "and", "rules": [["domain": "q"], ["invert": true]], "server": "system"],
            ],
            "final": "far",
        ],
        "inbounds": [["type": "tun", "tag": "tun"]],
        "outbounds": [
            ["type": "selector", "tag": "Proxies", "outbounds": ["HK", "Auto"], "default": "Auto"],
            ["type": "urltest", "tag": "Auto", "outbounds": ["HK", "JP", "Proxies"]],
            [
                "type": "trojan", "tag": "HK", "server": "a.example", "server_port": 443, "tls": ["enabled": true],
                "domain_resolver": ["server": "near"], "detour": "JP",
            ],
            ["type": "vless", "tag": "JP", "server": "b.example", "server_port": 443, "netns": "x", "detour": "US"],
            ["type": "ssh", "tag": "US", "server": "c.example", "private_key": "k"],
            ["type": "direct", "tag": "direct"], ["type": "block", "tag": "block"],
        ],
        "endpoints": [["type": "wireguard", "tag": "wg", "system": true, "peers": [["address": "x", "port": 1]]]],
        "route": [
            "rule_set": [
                ["type": "remote", "tag": "s", "url": "https://x/s.srs"], ["tag": "t", "rules": [["domain": "x"]]],
            ],
            "rules": [
                ["inbound": ["tun"], "action": "sniff"], ["rule_set": ["s", "t"], "outbound": "HK"],
                ["type": "logical", "mode": "or", "rules": [["rule_set": "s"], ["port": 1]], "outbound": "block"],
                ["clash_mode": "Rule", "outbound": "Proxies"], ["domain": "x", "action": "resolve", "server": "near"],
            ],
            "final": "Proxies",
        ],
    ]

    @Test func damagedDocumentsStayWhole() throws {
        var random = Seeded(state: 20_261_130)
        var shapedCount = 0
        for _ in 0..<1500 {
            let damaged = damage(document, &random)
            guard let shaped = try? ProfileShaper.shape(input(damaged)) else { continue }
            shapedCount += 1
            checkReferences(shaped)
        }
        #expect(shapedCount > 1000)
    }

    private func checkReferences(_ shaped: ShapedProfile) {
        let profile = shaped.profile
        let outbounds = profile["outbounds"].listed + profile["endpoints"].listed
        let tags = outbounds.compactMap { $0["tag"].string }
        let known = Set(tags)
        #expect(known.count == tags.count)
        let servers = profile["dns"]["servers"].listed
        let resolvers = Set(servers.compactMap { $0["tag"].string })
        #expect(resolvers.count == servers.count)
        let sets = Set(profile["route"]["rule_set"].listed.compactMap { $0["tag"].string })
        for outbound in outbounds {
            for name in [outbound["detour"].string, outbound["default"].string]
                + outbound["outbounds"].listed.map(\.string)
            {
                if let name { #expect(known.contains(name)) }
            }
            let resolver = outbound["domain_resolver"]
            if let name = resolver.string ?? resolver["server"].string { #expect(resolvers.contains(name)) }
        }
        for server in servers {
            if let name = server["detour"].string { #expect(known.contains(name) && name != "direct") }
            if let name = server["domain_resolver"].string { #expect(name == "dns-direct") }
        }
        func check(_ rule: JSON) {
            if let name = rule["outbound"].string { #expect(known.contains(name)) }
            if let name = rule["server"].string { #expect(resolvers.contains(name)) }
            for name in rule["rule_set"].listed { #expect(sets.contains(name.string ?? "")) }
            for inner in rule["rules"].listed { check(inner) }
        }
        for rule in shaped.rules + shaped.dnsRules { check(rule) }
    }
}
