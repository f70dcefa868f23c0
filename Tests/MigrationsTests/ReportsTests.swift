// Public bug reports 22 to 30: the facts a reviewer would look for, each in what the migration makes of the input.

import JSON
import Testing

@testable import Migrations

@Suite struct ReportsTests {
    private func migrated(_ name: String) throws -> JSON {
        var document = try fixture("reports/\(name)/input.json")
        #expect(!Migrations.run(&document, plainContext).isEmpty)
        let once = document
        #expect(Migrations.run(&document, plainContext).isEmpty)
        #expect(document == once)
        return document
    }

    /// The lines named by the case keep every essential field.
    private func checkLines(_ document: JSON, _ name: String) throws {
        let expect = try fixture("reports/\(name)/expect.json")
        let objects = document["outbounds"].listed + document["endpoints"].listed
        for line in expect["lines"].listed {
            let object = objects.first { $0["tag"] == line }
            for field in expect["outbound"][line.string ?? ""].object?.members ?? [] {
                #expect(object?[field.key] == field.value, "\(line.text()).\(field.key)")
            }
        }
    }

    @Test(arguments: names(in: "reports"))
    func linesSurvive(_ name: String) throws { try checkLines(try migrated(name), name) }

    @Test func geositeAndGeoipBecomeRuleSets() throws {
        let document = try migrated("22-geosite-geoip")
        #expect(
            document["route"]["rule_set"].listed.map { $0["tag"] } == [
                "geosite-category-ads-all", "geoip-cn", "geosite-geolocation-!cn", "geosite-cn",
            ])
        #expect(document["route"]["geoip"].isNull && document["route"]["geosite"].isNull)
        #expect(
            document["route"]["rules"].listed[1] == [
                "ip_is_private": true, "rule_set": "geoip-cn", "outbound": "direct",
            ])
        #expect(document["route"]["rules"].listed[2]["rules"].listed[1] == ["source_ip_is_private": true])
    }

    @Test func specialOutboundsBecomeActions() throws {
        let document = try migrated("23-special-outbounds")
        #expect(
            Array(document["route"]["rules"].listed.prefix(2)) == [
                ["protocol": "dns", "action": "hijack-dns"], ["port": 53, "action": "hijack-dns"],
            ])
        #expect(!document["outbounds"].listed.contains { $0["type"] == "dns" })
    }

    @Test func sniffComesFirst() throws {
        let rules = try migrated("24-inbound-sniff")["route"]["rules"].listed
        #expect(
            Array(rules.prefix(3)) == [
                ["inbound": "tun-in", "action": "sniff"],
                ["inbound": "mixed-in", "action": "sniff", "timeout": "300ms"],
                ["inbound": "tun-in", "action": "resolve", "strategy": "prefer_ipv4"],
            ])
    }

    @Test func tunFieldsCannotFail() throws {
        let tun = try migrated("25-tun-address-fields")["inbounds"].listed[0]
        #expect(tun["address"] == ["172.19.0.1/30", "fdfe:dcba:9876::1/126"])
        #expect(tun["route_exclude_address"] == ["192.168.0.0/16"])
        #expect(tun["gso"].isNull && tun["endpoint_independent_nat"].isNull)
    }

    @Test func everyAddressFormAndEveryReference() throws {
        let document = try migrated("26-legacy-dns-servers")
        let servers = document["dns"]["servers"].listed
        #expect(
            servers.map { $0["type"].string } == [
                "https", "tls", "udp", "tcp", "https", "quic", "h3", "local", "local",
            ])
        let tags = Set(servers.compactMap { $0["tag"].string })
        for rule in document["dns"]["rules"].listed where !rule["server"].isNull {
            #expect(tags.contains(rule["server"].string ?? ""))
        }
        #expect(servers[1]["domain_resolver"] == ["server": "ali", "strategy": "prefer_ipv4"])
        #expect(servers[2]["detour"].isNull)
        #expect(document["dns"]["rules"].listed[0]["rcode"] == "NOERROR")
        #expect(document["dns"]["final"] == "cf")
        // The default's ipv4_only is kept by a rule, the document's own prefer_ipv4 stays for the rest.
        #expect(
            document["dns"]["rules"].listed.last == [
                "query_type": "AAAA", "action": "predefined", "rcode": "NOERROR",
            ])
        #expect(document["route"]["default_domain_resolver"] == "ali")
    }

    @Test func resolversAreKeptWithTheirStrategies() throws {
        let document = try migrated("28-domain-resolver")
        #expect(document["route"]["default_domain_resolver"] == "dns-direct")
        #expect(document["dns"]["rules"] == [])
        #expect(
            document["outbounds"].listed[1]["domain_resolver"] == ["server": "dns-direct", "strategy": "prefer_ipv4"])
        #expect(
            document["outbounds"].listed[2]["domain_resolver"] == ["server": "dns-direct", "strategy": "ipv4_only"])
    }

    @Test func wireGuardStaysALine() throws {
        let document = try migrated("29-wireguard-outbound")
        #expect(document["outbounds"].listed[0]["outbounds"] == ["WG 🇳🇱", "p"])
        #expect(document["endpoints"].listed.count == 1)
    }

    @Test func addressRulesEvaluateThenRespond() throws {
        let rules = try migrated("30-dns-rules-114")["dns"]["rules"].listed
        #expect(
            rules.map { $0["action"].string ?? "route" } == [
                "predefined", "route", "reject", "evaluate", "respond", "evaluate", "respond", "respond",
            ])
        #expect(!rules.contains { !$0["strategy"].isNull })
    }
}
