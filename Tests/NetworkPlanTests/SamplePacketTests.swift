// Packets that stand for ordinary traffic: where they go, and which rules could be about them.

import Addressing
import Testing

@testable import NetworkPlan

@Suite struct SamplePacketTests {
    private var request = HostPlanRequest(
        engine: UserID(rawValue: 61002), user: UserID(rawValue: 1000), addresses: .preferred, onLink: [],
        guardLifetime: nil)

    private func destinations(_ family: AddressFamily) -> [String] {
        request.samples(family, isQuestion: false).map(\.destination.description)
    }

    @Test mutating func theyGoToNobodyThatIsNearOrDomestic() {
        #expect(destinations(.ipv4) == ["198.51.100.1", "203.0.113.1", "192.0.2.1"])
        #expect(destinations(.ipv6) == ["2001:db8::1", "3fff::1"])
        request.onLink = [Prefix("203.0.113.0/24")!, Prefix("2001:db8::/48")!]
        #expect(destinations(.ipv4) == ["198.51.100.1", "192.0.2.1"])
        #expect(destinations(.ipv6) == ["3fff::1"])
        request.domestic = Prefix.minimal(
            ["1.0.1.0/24", "198.51.100.0/28", "192.0.2.2/32", "198.51.101.0/24", "3ffe::/16"].map { Prefix($0)! })
        #expect(destinations(.ipv4) == ["192.0.2.1"])
        #expect(destinations(.ipv6) == ["3fff::1"])
        request.domestic = [Prefix("192.0.2.0/24")!, Prefix("198.51.100.0/24")!, Prefix("3fff::/20")!]
        #expect(destinations(.ipv4) + destinations(.ipv6) == [])
    }

    @Test func pagesAndQuestionsDiffer() {
        let page = request.samples(.ipv4, isQuestion: false)[0]
        #expect(page.transport == .tcp && page.port == .https && page.user == UserID(rawValue: 1000))
        let question = request.samples(.ipv4, isQuestion: true)[0]
        #expect(question.transport == .udp && question.port == .dns)
    }

    @Test func aRuleIsAboutAPacketWhenNothingInItSaysOtherwise() {
        let packet = request.samples(.ipv4, isQuestion: false)[0]
        let user = UserID(rawValue: 1000)
        func rule(_ change: (inout RoutingRule) -> Void) -> Bool {
            var rule = RoutingRule(.ipv4, RulePriority(rawValue: 50), action: .lookup(.main))
            change(&rule)
            return packet.isMatched(by: rule)
        }
        #expect(rule { _ in })
        #expect(rule { $0.users = UserIDRange(first: UserID(rawValue: 0), last: user) })
        #expect(rule { $0.destination = Prefix("198.0.0.0/8") })
        #expect(rule { $0.source = Prefix("0.0.0.0/32") })
        #expect(rule { $0.incoming = .loopback })
        #expect(rule { $0.transport = .tcp })
        #expect(rule { $0.destinationPort = .https })
        #expect(!rule { $0.family = .ipv6 })
        #expect(!rule { $0.users = UserIDRange(UserID(rawValue: 61002)) })
        #expect(!rule { $0.destination = Prefix("8.8.8.0/24") })
        #expect(!rule { $0.source = Prefix("10.0.0.0/8") })
        #expect(!rule { $0.mark = FirewallMark(rawValue: 1) })
        #expect(!rule { $0.incoming = Reserved.link })
        #expect(!rule { $0.transport = .udp })
        #expect(!rule { $0.sourcePort = .dns })
        #expect(!rule { $0.destinationPort = .dns })
    }
}
