// Choosing addresses, judging on-link networks, recognising our own rules.

import Addressing
import NetworkPlan
import Testing

@Suite struct ChoiceTests {
    @Test func takesTheFirstWhenNothingIsInTheWay() throws {
        let chosen = try #require(LinkAddresses.select(avoiding: Example.prefixes("0.0.0.0/0", "192.168.1.0/24")))
        #expect(chosen == .preferred)
        #expect(chosen.host(.ipv4).description == "198.19.77.1/30")
        #expect(chosen.inside(.ipv6).description == "fd74:726f:636b:6574::2/126")
        #expect(chosen.tun(.ipv4).description == "198.19.78.1/30")
    }

    @Test(arguments: [
        (["198.19.77.0/24"], "198.19.177.0/30"), (["198.19.0.0/16"], "198.18.77.0/30"),
        (["198.18.0.0/15"], "10.213.77.0/30"), (["198.18.0.0/15", "10.0.0.0/8"], "192.168.213.0/30"),
        (["0.0.0.0/1", "128.0.0.0/1"], "198.19.77.0/30"),
    ])
    func avoidsWhatIsUsed(_ used: [String], _ expected: String) throws {
        let chosen = try #require(LinkAddresses.select(avoiding: used.map { Prefix($0)! }))
        #expect(chosen.ipv4.description == expected)
        #expect(chosen.ipv6 == LinkAddresses.preferred.ipv6)
    }

    @Test func sixAvoidsSix() throws {
        let chosen = try #require(
            LinkAddresses.select(avoiding: Example.prefixes("fd74:726f::/32", "2000::/3", "fd00::/8")))
        #expect(chosen.ipv6.description == "fdb4:726f:636b:6574::/126")
    }

    @Test func aFullHostHasNone() {
        let used = Example.prefixes("198.18.0.0/15", "10.0.0.0/8", "192.168.0.0/16", "100.64.0.0/10")
        #expect(LinkAddresses.select(avoiding: used) == nil)
    }

    @Test func onLinkNetworksAreJudged() {
        func seen(_ name: String, _ prefix: String) -> ObservedAddress {
            ObservedAddress(interface: InterfaceName(name)!, prefix: Prefix(prefix)!)
        }
        let judged = OnLinkPrefixes([
            seen("eth0", "203.0.113.0/24"), seen("eth0", "2001:db8:1::/64"), seen("eth0", "fe80::/64"),
            seen("eth0", "128.0.0.0/1"), seen("wlan0", "192.168.1.0/24"), seen("lo", "127.0.0.0/8"),
            seen("trocket0", "198.19.77.0/30"), seen("ppp0", "198.51.100.7/32"), seen("eth1", "203.0.113.0/25"),
            seen("eth1", "2000::/3"),
        ])
        #expect(judged.accepted.map(\.description) == ["203.0.113.0/24", "2001:db8:1::/64"])
        #expect(judged.refused.map(\.description) == ["128.0.0.0/1", "2000::/3"])
    }

    @Test func everyRuleOfOursIsRecognisedAndOthersAreNot() {
        for rule in Example.plan.rules { #expect(rule.isOfOurShape, "\(rule)") }
        let foreign = [
            RoutingRule(.ipv4, Reserved.engineRule, action: .lookup(.main)),
            RoutingRule(.ipv4, RulePriority(rawValue: 7150), action: .nop),
            RoutingRule(.ipv4, RulePriority(rawValue: 9000), action: .nop),
            RoutingRule(.ipv4, Reserved.localRule, action: .lookup(.main)),
            RoutingRule(.ipv6, Reserved.endRule, incoming: .loopback, action: .nop),
        ]
        for rule in foreign { #expect(!rule.isOfOurShape, "\(rule)") }
    }
}
