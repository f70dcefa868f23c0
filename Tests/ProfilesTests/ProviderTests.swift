// The provider's own rules, rule-sets and resolvers: what stays, what goes, and what their names lead to.

import ImportReport
import JSON
import Testing

@testable import Profiles

@Suite struct ProviderTests {
    private let outbounds = """
        "outbounds": [
          {"type":"selector","tag":"Proxies","outbounds":["gone","HK"],"default":"HK"},
          {"type":"selector","tag":"Domestic","outbounds":["DIRECT","Proxies"]},
          {"type":"selector","tag":"Ads","outbounds":["REJECT","DIRECT"]},
          {"type":"selector","tag":"Loop","outbounds":["Loop2"]}, {"type":"selector","tag":"Loop2","outbounds":["Loop"]},
          {"type":"urltest","tag":"Fast","outbounds":["HK"]},
          {"type":"trojan","tag":"HK","server":"192.0.2.1","server_port":443,"password":"p","tls":{"enabled":true}},
          {"type":"trojan","tag":"via","server":"192.0.2.2","server_port":443,"password":"p","detour":"Fast","tls":{"enabled":true}},
          {"type":"direct","tag":"DIRECT"}, {"type":"block","tag":"REJECT"} ]
        """

    @Test func groupsBecomeWhatTheyChooseFirst() throws {
        let shaped = try shape(
            """
            {\(outbounds), "route": {"final": "HK", "rules": [
              {"domain": "a", "outbound": "Proxies"}, {"domain": "b", "outbound": "Domestic"},
              {"domain": "c", "outbound": "Ads", "udp_timeout": "1m"}, {"domain": "d", "outbound": "Fast"},
              {"domain": "e", "outbound": "HK"}, {"domain": "f", "outbound": "Loop"},
              {"domain": "g", "outbound": "nobody"}, {"domain": "h", "action": "direct", "bind_interface": "eth0"}
            ]}}
            """)
        #expect(
            shaped.providerRules.map { $0["outbound"].string ?? $0["action"].string } == [
                "proxy", "direct", "reject", "proxy", "HK", "proxy", "proxy", "direct",
            ])
        #expect(shaped.providerRules[2] == ["domain": "c", "action": "reject"])
        #expect(shaped.providerRules[7] == ["domain": "h", "action": "route", "outbound": "direct"])
        #expect(shaped.profile["route"]["final"] == "proxy")
        #expect(shaped.changed("route.final"))
        #expect(shaped.outbound("via")?["detour"] == "HK")
        #expect(!shaped.domesticAddressesAreDirect)
    }

    @Test func resolversOverQUICNeedAnEngineThatHasIt() throws {
        let document = try JSON.parse(
            """
            {\(outbounds), "dns": {"servers": [
              {"type": "h3", "tag": "three", "server": "9.9.9.9", "path": "/q", "detour": "HK"},
              {"type": "quic", "tag": "doq", "server": "9.9.9.10", "detour": "HK"}], "final": "doq",
             "rules": [{"domain": "a", "server": "three"}, {"domain": "b", "server": "doq"}]}}
            """, dialect: .lenient)
        var asked = input(document)
        let able = try ProfileShaper.shape(asked)
        #expect(able.profile["dns"]["servers"].listed.compactMap { $0["type"].string }.suffix(2) == ["h3", "quic"])
        #expect(able.profile["dns"]["final"] == "doq")
        asked.hasQUIC = false
        let unable = try ProfileShaper.shape(asked)
        let kept = unable.profile["dns"]["servers"].listed.dropFirst(2)
        #expect(
            Array(kept) == [
                ["type": "https", "tag": "three", "server": "9.9.9.9", "path": "/q", "detour": "HK"]
            ])
        #expect(unable.profile["dns"]["final"] == "dns-remote")
        #expect(!unable.dnsRules.contains { $0["domain"] == "b" })
        for place in ["dns.servers[0].type", "dns.servers[1]", "dns.rules[1]"] { #expect(unable.changed(place)) }
    }

    @Test func whatTheEngineRefusesIsLeftOutBySource() throws {
        let document = try JSON.parse(
            """
            {\(outbounds), "inbounds": [{"type": "tun", "route_exclude_address": ["10.9.0.0/16"]}],
             "dns": {"servers": [{"type": "local", "tag": "l"}, {"type": "udp", "tag": "u", "server": "9.9.9.9", "detour": "HK"}],
              "rules": [{"process_name": "x", "server": "u"}, {"domain": "a", "server": "u"}]},
             "route": {"rules": [{"process_name": "x", "outbound": "HK"}, {"domain": "a", "outbound": "HK"},
              {"domain": "b", "outbound": "HK"}]}}
            """, dialect: .lenient)
        var asked = input(document)
        let shaped = try ProfileShaper.shape(asked)
        #expect(
            shaped.origins.routeRules == [nil, nil, nil, nil, .excludedAddresses(0), .routeRule(1), .routeRule(2), nil])
        #expect(shaped.origins.resolvers == [nil, nil, .resolver(1)])
        #expect(shaped.origins.dnsRules == [nil, nil, .dnsRule(1), .dnsRule(1), nil, nil])
        #expect(shaped.origins.dnsRules.count == shaped.dnsRules.count)
        #expect(shaped.origins.routeRules.count == shaped.rules.count)
        asked.refused = [.routeRule(1): "why", .resolver(1): "why", .excludedAddresses(0): "why"]
        let less = try ProfileShaper.shape(asked)
        #expect(less.providerRules.compactMap { $0["domain"].string } == ["b"])
        #expect(less.profile["dns"]["servers"].listed.count == 2)
        for place in ["route.rules[1]", "dns.servers[1]", "dns.rules[1]", "inbounds[0].route_exclude_address"] {
            #expect(less.changes.contains { $0.place == place && $0.reason == "why" }, "\(place)")
        }
    }

    @Test func theDefaultStaysWhatItMeant() throws {
        #expect(try shape("{\(outbounds), \"route\":{\"final\":\"Domestic\"}}").profile["route"]["final"] == "direct")
        let blocked = try shape("{\(outbounds), \"route\":{\"final\":\"Ads\"}}")
        #expect(blocked.providerRules == [["clash_mode": "Rule", "action": "reject"]])
    }

    @Test func conditionsNobodyCanMeet() throws {
        let shaped = try shape(
            """
            {\(outbounds), "inbounds": [{"type": "tun", "tag": "tun-in"}, {"type": "mixed", "tag": "mixed-in"}],
             "route": {"rules": [
              {"action": "sniff"}, {"protocol": "dns", "action": "hijack-dns"}, {"clash_mode": "global", "outbound": "HK"},
              {"clash_mode": "rule", "domain": "a", "outbound": "HK"}, {"process_name": "curl", "outbound": "DIRECT"},
              {"inbound": ["tun-in"], "domain": "b", "outbound": "HK"}, {"inbound": "mixed-in", "outbound": "DIRECT"},
              {"type": "logical", "mode": "or", "rules": [{"process_name": "x"}, {"domain": "c"}], "outbound": "HK"},
              {"type": "logical", "mode": "and", "rules": [{"process_name": "x"}, {"domain": "c"}], "outbound": "HK"},
              {"type": "logical", "mode": "or", "invert": true, "rules": [{"process_name": "x"}, {"domain": "c"}],
               "outbound": "DIRECT"},
              {"domain": "d", "action": "resolve", "server": "local"}, {"domain": "e", "action": "explode"}, 7
            ]}}
            """)
        #expect(
            shaped.providerRules == [
                ["domain": "a", "action": "route", "outbound": "HK"],
                ["domain": "b", "action": "route", "outbound": "HK"],
                [
                    "type": "logical", "mode": "or", "rules": [["domain": "c"]], "action": "route", "outbound": "HK",
                ],
                ["domain": "d", "action": "resolve"],
            ])
    }

    /// Older engines passed over the action of a part; 1.14 says "rule action is not supported in nested rules".
    @Test func partsOfARuleDoNothingThemselves() throws {
        let shaped = try shape(
            """
            {\(outbounds), "dns": {"servers": [{"type": "local", "tag": "l"}], "rules": [
              {"type": "logical", "mode": "or", "rules": [{"domain": "n", "server": "gone", "rewrite_ttl": 5}],
               "server": "l"}]},
             "route": {"rules": [
              {"type": "logical", "mode": "or", "outbound": "HK",
               "rules": [{"domain": "a", "outbound": "gone", "udp_timeout": "5m"}, {"type": "logical", "mode": "and",
                 "rules": {"domain": "b", "port": 1, "action": "sniff", "timeout": "1s"}, "outbound": "gone"}]},
              {"type": "logical", "mode": "or", "rules": [{"override_port": 1}], "outbound": "HK"}]}}
            """)
        #expect(
            shaped.providerRules == [
                [
                    "type": "logical", "mode": "or", "outbound": "HK", "action": "route",
                    "rules": [
                        ["domain": "a"], ["type": "logical", "mode": "and", "rules": [["domain": "b", "port": 1]]],
                    ],
                ]
            ])
        #expect(shaped.profile["dns"]["rules"].listed.contains { $0["rules"] == [["domain": "n"]] })
    }

    @Test func ruleSetsThatCannotBeHadGoWithTheirRules() throws {
        let text = """
            {\(outbounds), "route": {"rule_set": [
              {"type": "remote", "tag": "had", "url": "https://x/had.json?a=.srs"},
              {"type": "remote", "tag": "lost", "url": "https://x/lost.srs"},
              {"type": "remote", "tag": "unused", "url": "https://x/unused.srs"},
              {"type": "local", "tag": "file", "path": "/etc/passwd"}, {"type": "inline", "tag": "empty", "rules": []},
              {"tag": "in", "rules": [{"domain": "x"}]}
             ], "rules": [
              {"rule_set": ["had", "lost"], "outbound": "HK"}, {"rule_set": "lost", "outbound": "DIRECT"},
              {"rule_set": ["had", "lost"], "invert": true, "outbound": "DIRECT"}, {"rule_set": "file", "outbound": "HK"},
              {"rule_set": "empty", "outbound": "HK"}, {"rule_set": "in", "outbound": "HK"}
            ]}}
            """
        let needs = RuleSetNeed.list(try JSON.parse(text))
        #expect(
            needs == [
                RuleSetNeed(tag: "had", url: "https://x/had.json?a=.srs", format: .source),
                RuleSetNeed(tag: "lost", url: "https://x/lost.srs", format: .binary),
            ])
        let shaped = try shape(text, domesticSets + [LocalRuleSet(tag: "had", path: "/sets/1.json", format: .source)])
        #expect(
            shaped.providerRules == [
                ["rule_set": ["had"], "action": "route", "outbound": "HK"],
                ["rule_set": "in", "action": "route", "outbound": "HK"],
            ])
        #expect(
            shaped.profile["route"]["rule_set"].listed.map { $0["tag"].string } == [
                "geoip-cn", "geosite-cn", "had", "in",
            ])
        #expect(!shaped.profile.text().contains("\"type\":\"remote\""))
        #expect(Set(shaped.removedRuleSets.map(\.tag)) == ["lost", "unused", "file", "empty"])
    }

    @Test func resolversThatWouldLeakOrLoopGo() throws {
        let shaped = try shape(
            """
            {\(outbounds), "dns": {"strategy": "prefer_ipv4", "fakeip": {}, "servers": [
              {"type": "https", "tag": "far", "server": "dns.example", "detour": "Proxies"},
              {"type": "udp", "tag": "dns-direct", "server": "192.0.2.9", "detour": "Domestic", "bind_interface": "eth0"},
              {"type": "tls", "tag": "named", "server": "dot.example", "domain_resolver": "nowhere"},
              {"type": "local", "tag": "system"}, {"type": "fakeip", "tag": "fake", "inet4_range": "198.18.0.0/15"},
              {"type": "tailscale", "tag": "ts"}, {"type": "udp", "tag": "dead", "server": "192.0.2.8", "detour": "REJECT"}
             ], "rules": [
              {"domain": "a", "server": "far"}, {"domain": "b", "server": "dns-direct"}, {"server": "dns-direct"},
              {"domain": "c", "server": "system"}, {"query_type": "A", "server": "fake"}, {"domain": "d", "server": "dead"},
              {"query_type": ["A"], "action": "evaluate", "server": "named"},
              {"match_response": true, "ip_is_private": true, "action": "respond"},
              {"domain": "e", "action": "evaluate", "server": "far"},
              {"domain": "e", "match_response": true, "ip_is_private": true, "action": "respond"},
              {"domain": "f", "action": "reject"}, {"clash_mode": "Direct", "server": "dns-direct"}
             ], "final": "dns-direct"}}
            """)
        let dns = shaped.profile["dns"]
        #expect(
            dns["servers"].listed.dropFirst(2) == [
                ["type": "https", "tag": "far", "server": "dns.example", "detour": "proxy"],
                ["type": "udp", "tag": "dns-direct #2", "server": "192.0.2.9"],
                ["type": "tls", "tag": "named", "server": "dot.example", "domain_resolver": "dns-direct"],
            ])
        #expect(
            shaped.dnsRules.dropFirst(2).dropLast(2) == [
                ["domain": "a", "query_type": ["AAAA"], "action": "predefined", "rcode": "NOERROR"],
                ["domain": "a", "server": "far"],
                ["domain": "b", "server": "dns-direct #2"],
                ["domain": "c", "server": "dns-direct"],
                ["domain": "e", "action": "evaluate", "server": "far"],
                ["domain": "e", "match_response": true, "ip_is_private": true, "action": "respond"],
                ["domain": "f", "action": "reject"],
            ])
        #expect(dns["final"] == "dns-remote")
        #expect(dns["strategy"] == "prefer_ipv4")
        #expect(dns["fakeip"].isNull)
    }

    @Test func sectionsThatNeverReachTheEngine() throws {
        let shaped = try shape(
            """
            {\(outbounds), "log": {"output": "/etc/x"}, "inbounds": [{"type": "mixed"}], "services": [{"type": "api"}],
             "experimental": {"clash_api": {"external_ui": "/"}}, "ntp": {"enabled": true}, "http_clients": [{}],
             "network_namespaces": [{}], "certificate": {"certificate_path": "/x"}, "surprise": 1,
             "route": {"auto_detect_interface": true, "default_mark": 9, "find_process": true, "default_interface": "e"}}
            """)
        #expect(shaped.profile.object?.keys == ["dns", "outbounds", "route"])
        #expect(shaped.profile["route"].object?.keys == ["rules", "rule_set", "final", "default_domain_resolver"])
        for place in [
            "log", "inbounds", "services", "experimental", "ntp", "http_clients", "network_namespaces", "certificate",
            "surprise", "route.auto_detect_interface", "route.default_mark", "route.find_process",
            "route.default_interface",
        ] {
            #expect(shaped.changed(place), "\(place)")
        }
    }

    @Test func oneOfSeveralConditionsIsEnough() throws {
        let shaped = try shape(
            """
            {\(outbounds), "inbounds": [{"type": "tun", "tag": "t", "route_exclude_address": ["192.0.2.0/24"]}],
             "route": {"rule_set": [
               {"tag": "in", "rules": [{"domain_regex": ["^ok$", "(?<=a)b"]}, {"domain_regex": "(?=x)"}]}], "rules": [
              {"rule_set": "lost", "domain": "a", "outbound": "HK"}, {"domain_regex": ["(?!x)", "b$"], "outbound": "HK"},
              {"domain_regex": "(?!x)", "port": 1, "outbound": "HK"}, {"rule_set": "in", "outbound": "HK"},
              {"domain_regex": ["(?!x)", "b$"], "invert": true, "outbound": "DIRECT"}
            ]}}
            """)
        #expect(
            shaped.providerRules == [
                ["ip_cidr": ["192.0.2.0/24"], "action": "route", "outbound": "direct"],
                ["domain": "a", "action": "route", "outbound": "HK"],
                ["domain_regex": ["b$"], "action": "route", "outbound": "HK"],
                ["rule_set": "in", "action": "route", "outbound": "HK"],
            ])
        #expect(shaped.profile["route"]["rule_set"].listed.last?["rules"] == [["domain_regex": ["^ok$"]]])
    }

    /// The engine refuses an empty name and a part without conditions, and a rule without any takes everything.
    @Test func rulesWithHoles() throws {
        let shaped = try shape(
            """
            {\(outbounds), "inbounds": [{"type": "tun", "tag": "t"}], "dns": {"servers": [{"type": "udp", "tag": "x"}],
              "rules": [{"domain": "a", "server": "x"}]},
             "route": {"rule_set": [{"tag": "in", "rules": [{"domain": []}]}], "rules": [
              {"domain_suffix": ["", "a"], "outbound": "HK"}, {"domain_suffix": "", "outbound": "HK"}, {"outbound": "HK"},
              {"type": "logical", "mode": "and", "rules": [{"inbound": "t"}, {"domain": "b"}], "outbound": "HK"},
              {"type": "logical", "mode": "or", "rules": [{"inbound": "t"}, {"domain": "b"}], "outbound": "HK"},
              {"type": "logical", "mode": "and", "rules": [{}, {"domain": "b"}], "outbound": "HK"},
              {"rule_set": "in", "outbound": "HK"}
            ]}}
            """)
        #expect(
            shaped.providerRules == [
                ["domain_suffix": ["a"], "action": "route", "outbound": "HK"],
                ["action": "route", "outbound": "proxy"],
                ["type": "logical", "mode": "and", "rules": [["domain": "b"]], "action": "route", "outbound": "HK"],
            ])
        #expect(shaped.profile["dns"]["servers"].listed.count == 2)
        #expect(shaped.removedRuleSets.map(\.tag) == ["in"])
    }

    @Test(arguments: [
        ("^a.*[^]x-z]+?\\.com$", true), ("(?i)a(?:b|c){2,3}", true), ("(?P<n>a)", true), ("\\d\\x41\\p{Han}", true),
        ("a{,2}", true), ("[[:alpha:]]", true), ("", true), ("(?=a)", false), ("(?<!a)b", false), ("(a)\\1", false),
        ("a++", false), ("*a", false), ("(a", false), ("a)", false), ("[a", false), ("\\Z", false), ("a\\", false),
        ("a{1001}", false), ("(?>a)", false), ("\\h", false), ("a{2}{3}", false), ("[[:foo:]]", false),
        ("[z-a]", false), ("[a-\\d]", false), ("[\\d-z]", true), ("[a-]", true),
        ("\\p{Foo}", false), ("\\pL", true), ("[中-文]", true), ("[]a]", true),
    ])
    func expressions(_ text: String, _ accepted: Bool) { #expect(Expressions.accepts(text) == accepted) }
}
