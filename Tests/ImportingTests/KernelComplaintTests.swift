// The engine's sentences name what to take out, and are shown without the secrets they quote.

import JSON
import Testing

@testable import Importing

@Suite struct KernelComplaintTests {
    @Test(arguments: [
        ("initialize outbound[3]: unknown method: x", KernelComplaint.outbound(3)),
        ("outbounds[12].server_port: json: cannot unmarshal", .outbound(12)),
        ("decode config at /dev/fd/3: outbounds[1].tls: unknown field", .outbound(1)),
        ("create service: initialize endpoint[0]: decode private key", .endpoint(0)),
        ("endpoints[2].address[0]: bad prefix", .endpoint(2)),
        ("create service: initialize router: parse rule-set[1]: unsupported version: 9", .ruleSet(1)),
        ("start service: dependency[a [x]] not found for outbound[b [y] z]", .tag("b [y] z")),
        ("start service: start outbound/ssh[🇭🇰 HK [1]]: bad key", .tag("🇭🇰 HK [1]")),
        ("initialize router: parse rule[7]: sub rule[0]: ipcidr: parse [0]: netip.ParsePrefix", .routeRule(7)),
        ("route.rules[4].port: (json: cannot unmarshal string into Go value of type uint16", .routeRule(4)),
        ("initialize router: parse rule-set[0]: parse rule_set.rules.[1]: port_range: bad", .ruleSet(0)),
        ("route.rule_set[2].rules[0].domain: (json: cannot unmarshal", .ruleSet(2)),
        ("dns.rules[1].query_type: (unknown DNS query type: \"FOO\"", .dnsRule(1)),
        ("initialize dns router: parse dns rule[5]: ip_cidr: parse [0]", .dnsRule(5)),
        ("start service: initialize rule-set[0]: initial rule-set: x: validate dns rule[1]: Legacy", .dnsRule(1)),
        ("dns.servers[2].server: json: cannot unmarshal number", .resolver(2)),
        ("initialize DNS server[2]: parse min_version: unknown tls version:9", .resolver(2)),
        ("dns.strategy: unknown domain strategy: foo", .dnsSetting("strategy")),
        ("start dns server: no such host", .other), ("", .other),
    ])
    func sentences(_ words: String, _ complaint: KernelComplaint) {
        #expect(KernelComplaint(words) == complaint)
    }

    @Test func secretsAreTakenOut() {
        let object: JSON = [
            "type": "vless", "tag": "HK", "uuid": "not-a-uuid-1234", "server": "secret.example",
            "tls": ["reality": ["public_key": "KEYKEYKEY"]],
        ]
        let words = "vless HK: invalid uuid \"not-a-uuid-1234\" for secret.example (KEYKEYKEY)"
        #expect(Scrubber.scrub(words, of: object) == "vless HK: invalid uuid \"…\" for … (…)")
    }

    @Test func redactionKeepsTheShapeAndNoSecret() {
        let profile: JSON = [
            "outbounds": [
                ["type": "selector", "tag": "proxy", "outbounds": ["auto", "HK"]],
                [
                    "type": "trojan", "tag": "HK", "server": "secret.example", "server_port": 443,
                    "password": "hunter2",
                    "new_field": ["deep": "hunter3"], "detour": "HK#stls", "alpn": ["h2"],
                ],
                ["type": "shadowtls", "tag": "HK#stls", "server": "secret.example"],
            ],
            "dns": ["servers": [["tag": "own", "type": "https", "path": "/TOKEN", "server": "9.9.9.9"]]],
            "route": ["rules": [["outbound": "HK", "domain": ["kept.example"]]], "final": "proxy"],
        ]
        let text = ProfileRedaction.redact(profile).text()
        for secret in ["secret.example", "hunter2", "hunter3", "443", "TOKEN", "9.9.9.9", "\"HK"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        for kept in ["line-1", "line-2", "trojan", "kept.example", "\"h2\"", "\"auto\""] {
            #expect(text.contains(kept), "\(kept)")
        }
    }
}
