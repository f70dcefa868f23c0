// What the corpus does not show: odd shapes, combinations, and documents that are barely documents.

import ImportReport
import JSON
import Testing

@testable import Migrations

@Suite struct StepTests {
    @Test(arguments: [
        ("8.8.8.8", DNSServerAddress.remote(type: "udp", host: "8.8.8.8", port: nil, path: nil)),
        ("UDP://8.8.8.8:53", .remote(type: "udp", host: "8.8.8.8", port: nil, path: nil)),
        ("[2001:db8::1]:5353", .remote(type: "udp", host: "2001:db8::1", port: 5353, path: nil)),
        ("2001:db8::1", .remote(type: "udp", host: "2001:db8::1", port: nil, path: nil)),
        ("https://h:8443/q?x=1", .remote(type: "https", host: "h", port: 8443, path: "/q")),
        ("h3://h/dns-query", .remote(type: "h3", host: "h", port: nil, path: nil)),
        ("tls://h:853", .remote(type: "tls", host: "h", port: nil, path: nil)),
        ("dhcp://auto", .dhcp(interface: nil)), ("dhcp://en0", .dhcp(interface: "en0")),
        ("RCODE://Success", .rcode("success")), ("Local", .local), ("fakeip", .fakeip),
    ])
    func addresses(_ text: String, _ expected: DNSServerAddress) {
        #expect(DNSServerAddress(text) == expected)
    }

    @Test(arguments: [
        "", "sdns://x", "https://", "1.1.1.1:", "1.1.1.1:0", "1.1.1.1:99999", "[::1", "[::1]x", "tcp://:53",
    ])
    func noAddresses(_ text: String) { #expect(DNSServerAddress(text) == nil) }

    @Test func withoutDHCPTheSystemIsAsked() throws {
        let (document, _) = try migrate(
            #"{"dns":{"servers":[{"tag":"a","address":"dhcp://en0"},{"tag":"b","type":"dhcp"}]}}"#)
        #expect(document["dns"]["servers"] == [["tag": "a", "type": "local"], ["tag": "b", "type": "local"]])
    }

    @Test func theDefaultMayBeAFixedAnswer() throws {
        let (document, _) = try migrate(
            #"{"dns":{"servers":[{"tag":"r","address":"rcode://refused"},{"tag":"l","address":"local"}],"rules":[]}}"#)
        #expect(document["dns"]["rules"] == [["action": "predefined", "rcode": "REFUSED"]])
        #expect(document["dns"]["final"].isNull)
    }

    @Test func aServerOfNoKnownKindGoesWithItsRules() throws {
        let (document, changes) = try migrate(
            """
            {"dns":{"servers":[{"tag":"x","address":"sdns://abc"},{"tag":"l","address":"local"}],
             "rules":[{"domain":"a","server":"x"},{"domain":"b","server":"l"}],"final":"x"}}
            """)
        #expect(document["dns"]["servers"] == [["tag": "l", "type": "local"]])
        #expect(document["dns"]["rules"] == [["domain": "b", "server": "l"]])
        #expect(document["dns"]["final"].isNull)
        #expect(changes.contains { $0.place == "dns.servers[0]" })
    }

    @Test func oneFakeIPServerStays() throws {
        let (document, _) = try migrate(
            """
            {"dns":{"servers":[{"tag":"f","address":"fakeip"},{"tag":"g","address":"fakeip"},{"tag":"l","address":"local"}],
             "rules":[{"query_type":"A","server":"g"}],"final":"l","fakeip":{"enabled":true,"inet4_range":"10.0.0.0/8"}}}
            """)
        #expect(
            document["dns"]["servers"] == [
                ["tag": "f", "type": "fakeip", "inet4_range": "10.0.0.0/8"], ["tag": "l", "type": "local"],
            ])
        #expect(document["dns"]["rules"] == [["query_type": "A", "server": "f"]])
    }

    @Test func invertedAndLogicalAddressRules() throws {
        let (document, _) = try migrate(
            """
            {"dns":{"servers":[{"tag":"a","type":"udp","server":"192.0.2.1"}],"rules":[
             {"ip_cidr":"10.0.0.0/8","invert":true,"server":"a"},
             {"type":"logical","mode":"and","rules":[{"domain":"x"},{"ip_is_private":true}],"server":"a"},
             {"type":"logical","mode":"or","rules":[{"domain":"x"},{"ip_is_private":true}],"server":"a"},
             {"query_type":["AAAA","TXT"],"ip_is_private":true,"server":"a"},{"query_type":"TXT","ip_is_private":true,"server":"a"}]}}
            """)
        let types: JSON = ["query_type": ["A", "AAAA", "HTTPS"]]
        func all(_ part: JSON) -> JSON {
            ["type": "logical", "mode": "and", "rules": [types, part], "action": "respond"]
        }
        let rules = document["dns"]["rules"].listed
        #expect(rules.count == 8)
        #expect(rules[0] == ["query_type": ["A", "AAAA", "HTTPS"], "server": "a", "action": "evaluate"])
        #expect(rules[1] == all(["ip_cidr": "10.0.0.0/8", "invert": true, "match_response": true]))
        #expect(
            rules[2] == [
                "type": "logical", "mode": "and", "server": "a", "action": "evaluate",
                "rules": [types, ["type": "logical", "mode": "and", "rules": [["domain": "x"]]]],
            ])
        #expect(rules[4] == ["query_type": ["A", "AAAA", "HTTPS"], "server": "a", "action": "evaluate"])
        #expect(rules[6]["query_type"] == ["AAAA"])
    }

    @Test func whatASetHoldsMayBeKnown() throws {
        let text = """
            {"dns":{"servers":[{"tag":"a","type":"udp","server":"192.0.2.1"}],"rules":[{"rule_set":"cn","server":"a"}]},
             "route":{"rule_set":[{"tag":"cn","type":"local","path":"x"}]}}
            """
        #expect(try migrate(text).1.isEmpty)
        var context = plainContext
        context.holdsAddresses = ["cn": true]
        #expect(try migrate(text, context).0["dns"]["rules"].listed.count == 2)
        context.holdsAddresses = ["geoip-cn": false]
        #expect(try migrate(text.replacing("\"cn\"", with: "\"geoip-cn\""), context).1.isEmpty)
    }

    @Test(arguments: [
        ("geoip-cn", true), ("geoip@cn", true), ("telegram-ip", true), ("cn_cidr", true),
        ("https://x/geoip/cn.srs", true),
        ("https://ip.example/list/geosite-cn.srs", false), ("geosite-cn", false), ("iphone", false), ("", false),
        ("vip-sites", false),
    ])
    func namesOfAddressSets(_ name: String, _ expected: Bool) {
        #expect(AddressRuleSets.looksLikeAddresses(name) == expected)
    }

    @Test func aGlobalStrategyThatDoesNotFitAll() throws {
        let (document, _) = try migrate(
            """
            {"dns":{"strategy":"ipv4_only","servers":[{"tag":"a","type":"udp","server":"192.0.2.1","strategy":"prefer_ipv6"},
             {"tag":"b","type":"udp","server":"192.0.2.2"}],"rules":[{"domain":"x","server":"b"}]}}
            """)
        #expect(document["dns"]["strategy"].isNull)
        #expect(
            document["dns"]["rules"] == [
                ["domain": "x", "query_type": "AAAA", "action": "predefined", "rcode": "NOERROR"],
                ["domain": "x", "server": "b"],
            ])
    }

    @Test func sourceSetsBesideDestinationSets() throws {
        let (document, _) = try migrate(
            #"{"outbounds":[{"type":"direct","tag":"d"}],"route":{"rules":[{"geosite":"cn","source_geoip":"us","port":1,"outbound":"d"}]}}"#
        )
        #expect(
            document["route"]["rules"] == [
                [
                    "type": "logical", "mode": "and", "outbound": "d",
                    "rules": [
                        ["port": 1, "rule_set": "geosite-cn"],
                        ["rule_set": "geoip-us", "rule_set_ip_cidr_match_source": true],
                    ],
                ]
            ])
    }

    @Test func leftoversOfOldKernels() throws {
        let (document, changes) = try migrate(
            """
            {"inbounds":[{"type":"tun","tag":"t","address":["172.19.0.1/32"],"stack":"gvisor"},{"type":"tun","tag":"u","stack":"lwip"}],
             "outbounds":[{"type":"shadowsocksr","tag":"r"},{"type":"selector","tag":"s","outbounds":["r","d"],"default":"r"},
              {"type":"direct","tag":"d","proxy_protocol":1},{"type":"socks","tag":"x","server":"192.0.2.1","server_port":1,"detour":"d"}],
             "route":{"override_android_vpn":true}}
            """)
        #expect(document["inbounds"].listed[0]["dns_mode"] == "disabled")
        #expect(document["inbounds"].listed[1] == ["type": "tun", "tag": "u"])
        #expect(
            document["outbounds"] == [
                ["type": "selector", "tag": "s", "outbounds": ["d"]], ["type": "direct", "tag": "d"],
                ["type": "socks", "tag": "x", "server": "192.0.2.1", "server_port": 1],
            ])
        #expect(changes.count == 6)
    }

    @Test func noDocumentAtAll() throws {
        for text in ["[]", "null", "5", "{}", "{\"dns\":5,\"route\":[],\"outbounds\":{},\"inbounds\":\"x\"}"] {
            var document = try JSON.parse(text)
            #expect(
                Migrations.run(&document, MigrationContext(capabilities: plainContext.capabilities)).isEmpty, "\(text)")
            #expect(document.text() == text)
        }
    }
}
