// What every profile has, whatever the provider sends.

import JSON
import Testing

@testable import Profiles

@Suite struct OwnRoutingTests {
    let shaped: ShapedProfile

    init() throws {
        shaped = try ProfileShaper.shape(
            ShapingInput(
                outbounds: [line("a", ["detour": "a#stls"]), line("a#stls"), line("b")], lineTags: ["b", "a"],
                ruleSets: domesticSets))
    }

    @Test func nothingButLinesDNSAndRoute() {
        #expect(shaped.profile.object?.keys == ["dns", "outbounds", "route"])
        #expect(shaped.changes.isEmpty)
        #expect(shaped.dropped.isEmpty)
    }

    @Test func groupsHoldLinesAndNoHelper() {
        #expect(shaped.lineTags == ["b", "a"])
        #expect(shaped.outbound("proxy")?["outbounds"] == ["auto", "b", "a"])
        #expect(shaped.outbound("proxy")?["interrupt_exist_connections"] == false)
        #expect(shaped.outbound("auto")?["outbounds"] == ["b", "a"])
        #expect(shaped.outbound("auto")?["url"].string?.hasPrefix("https://") == true)
        #expect(shaped.outbound("direct") == ["type": "direct", "tag": "direct"])
        #expect(shaped.outbound("a#stls") != nil)
    }

    @Test func rulesInOrder() {
        #expect(
            shaped.profile["route"] == [
                "rules": [
                    ["action": "sniff"],
                    [
                        "type": "logical", "mode": "or", "rules": [["protocol": "dns"], ["port": 53]],
                        "action": "hijack-dns",
                    ],
                    ["ip_is_private": true, "ip_cidr": ["100.64.0.0/10"], "action": "route", "outbound": "direct"],
                    ["clash_mode": "Global", "action": "route", "outbound": "proxy"],
                    [
                        "clash_mode": "Rule", "rule_set": ["geosite-cn", "geoip-cn"], "action": "route",
                        "outbound": "direct",
                    ],
                ],
                "rule_set": [
                    ["type": "local", "tag": "geoip-cn", "format": "binary", "path": "/sets/geoip-cn.srs"],
                    ["type": "local", "tag": "geosite-cn", "format": "binary", "path": "/sets/geosite-cn.srs"],
                ],
                "final": "proxy", "default_domain_resolver": "dns-direct",
            ])
        #expect(shaped.domesticAddressesAreDirect)
    }

    @Test(arguments: [
        ("", true),
        (#"{"domain": "a", "outbound": "direct"}, {"rule_set": "geoip-cn", "outbound": "direct"}"#, true),
        (#"{"domain": "a", "outbound": "x"}"#, false), (#"{"port": 25, "action": "reject"}"#, false),
        (#"{"process_name": "a", "outbound": "direct"}, {"domain": "b", "action": "resolve"}"#, false),
        (#"{"domain": "a", "outbound": "direct", "override_address": "192.0.2.1"}"#, false),
        (#"{"domain": "a", "outbound": "direct", "override_port": 8443}"#, false),
    ])
    func domesticTrafficMayGoPastTheEngineOnlyWhenEveryRuleSaysSo(rules: String, isAllowed: Bool) throws {
        let text = """
            {"outbounds": [{"type": "direct", "tag": "direct"}, {"type": "socks", "tag": "x", "server": "a.example",
              "server_port": 1080}], "route": {"rules": [\(rules)]}}
            """
        #expect(try shape(text, domesticSets).domesticAddressesAreDirect == isAllowed)
        // A provider's own list of that name may say something else than the one of the product.
        let own = LocalRuleSet(tag: "geoip-cn", path: "/sets/1.srs")
        #expect(try !shape(text, domesticSets + [own]).domesticAddressesAreDirect)
        #expect(try !shape(text, [own]).domesticAddressesAreDirect)
    }

    @Test func namesAreResolvedWhereTheyGo() {
        let dns = shaped.profile["dns"]
        // A detour to an option-less direct outbound stops the engine; none dials directly.
        #expect(dns["servers"].listed[0]["detour"].isNull)
        #expect(dns["servers"].listed[1]["detour"] == "proxy")
        #expect(dns["final"] == "dns-remote")
        #expect(
            dns["rules"] == [
                ["clash_mode": "Global", "query_type": ["AAAA"], "action": "predefined", "rcode": "NOERROR"],
                ["clash_mode": "Global", "action": "route", "server": "dns-remote"],
                ["clash_mode": "Rule", "rule_set": ["geosite-cn"], "action": "route", "server": "dns-direct"],
                ["query_type": ["AAAA"], "action": "predefined", "rcode": "NOERROR"],
            ])
    }

    @Test func resolversAndIPv6AreChoices() throws {
        var input = ShapingInput(outbounds: [line("a")], lineTags: ["a"])
        input.options.foreignIPv6 = .resolved
        input.options.domesticResolver = Resolver(.udp, "192.0.2.53", port: 5353)
        input.options.authorities = ["PEM"]
        let shaped = try ProfileShaper.shape(input)
        #expect(!shaped.profile.text().contains("AAAA"))
        #expect(
            shaped.profile["dns"]["servers"].listed[0] == [
                "type": "udp", "tag": "dns-direct", "server": "192.0.2.53", "server_port": 5353,
            ])
        #expect(shaped.profile["certificate"] == ["certificate": ["PEM"]])
        // Without the sets both modes are still named, or the engine would not know Rule.
        #expect(shaped.rules.last?["clash_mode"] == "Rule")
        #expect(shaped.profile["route"]["rule_set"].isNull)
        #expect(!shaped.domesticAddressesAreDirect)
    }

    @Test func probingNeverOutlivesUse() {
        for count in [1, 100, 101, 50_000] {
            let times = OwnRouting.probeTimes(lineCount: count)
            // The engine refuses an interval above idle_timeout.
            #expect(times.interval == times.idleTimeout)
        }
    }

    @Test func settingsStandApart() {
        let settings = EngineSettings(controlPort: 1234, secret: "s", mode: .global)
        #expect(settings.document["experimental"]["clash_api"]["external_controller"] == "127.0.0.1:1234")
        #expect(settings.document["experimental"]["clash_api"]["default_mode"] == "Global")
        #expect(settings.document["experimental"]["cache_file"] == ["enabled": true, "path": "cache.db"])
        let probe = ProbeConfiguration.document(
            profile: shaped.profile, settings: settings, mixedPort: 99, outbound: "a")
        #expect(probe["experimental"]["cache_file"].isNull)
        #expect(probe["inbounds"] == [["type": "mixed", "tag": "probe", "listen": "127.0.0.1", "listen_port": 99]])
        #expect(probe["outbounds"].listed.compactMap { $0["tag"].string } == ["a", "a#stls", "b", "direct"])
        #expect(probe["dns"]["servers"].listed.map { $0["tag"] } == ["dns-direct"])
        #expect(probe["route"]["final"] == "a")
    }
}
