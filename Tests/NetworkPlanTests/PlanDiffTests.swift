// Getting from one plan to another: the order of the steps, and that they lead there.

import Addressing
import NetworkPlan
import Testing

@Suite struct PlanDiffTests {
    private func outcome(_ from: HostPlan, _ to: HostPlan, replacingLink: Bool = false) -> HostPlan {
        var plan = from
        for step in PlanDiff.steps(from: from, to: to, replacingLink: replacingLink) { plan.record(step) }
        return plan
    }

    @Test func raisingClosesFirstAndCapturesLast() {
        let steps = PlanDiff.steps(from: .empty, to: Example.plan)
        guard case .setGuard = steps[0], case .addLink = steps[1], case .addRoutes(let routes) = steps[2] else {
            Issue.record("the order is guard, link, routes: \(steps.prefix(3))")
            return
        }
        #expect(routes.count == 4)
        let rules = steps.dropFirst(3).compactMap { step in
            if case .addRule(let rule) = step { rule } else { nil }
        }
        #expect(rules.count == Example.plan.rules.count)
        #expect(rules.first?.priority == Reserved.endRule)
        let firstCapture = rules.firstIndex { $0.captures } ?? 0
        #expect(rules[firstCapture...].allSatisfy { $0.captures })
        #expect(rules[..<firstCapture].contains { $0.priority == Reserved.sourceRule })
        #expect(
            rules.last
                == RoutingRule(
                    .ipv6, Reserved.captureRestRule, incoming: .loopback, action: .lookup(Reserved.tunnelTable)))
    }

    @Test func loweringOpensLast() {
        let steps = PlanDiff.steps(from: Example.plan, to: .empty)
        #expect(steps.last == .removeGuard)
        #expect(steps.dropLast().last == .removeLink(Reserved.link))
        if case .removeRule(let rule) = steps[0] { #expect(rule.captures) } else { Issue.record("\(steps[0])") }
    }

    @Test func theSamePlanNeedsNothing() { #expect(PlanDiff.steps(from: Example.plan, to: Example.plan).isEmpty) }

    @Test func aNewSandboxRefusesMeanwhile() {
        let steps = PlanDiff.steps(from: Example.plan, to: Example.plan, replacingLink: true)
        guard steps.count == 5, case .addRoutes(let holding) = steps[0], case .addRoutes(let again) = steps[3] else {
            Issue.record("hold, remove, add, routes, release: \(steps)")
            return
        }
        #expect(
            holding.map(\.description) == [
                "unreachable default table 7100 metric 7100000", "unreachable default table 7101 metric 7100000",
                "unreachable default table 7100 metric 7100000", "unreachable default table 7101 metric 7100000",
            ])
        #expect(steps[1] == .removeLink(Reserved.link))
        #expect(again == Example.plan.routes)
        #expect(steps[4] == .removeRoutes(holding))
    }

    @Test func aNewNetworkIsAddedBeforeTheOldOneGoes() {
        var request = Example.request
        request.onLink = Example.prefixes("198.51.100.0/24")
        let steps = PlanDiff.steps(from: Example.plan, to: HostPlanBuilder.plan(request))
        #expect(
            steps.dropFirst().map { step in
                switch step {
                case .addRule(let rule): "+ \(rule)"
                case .removeRule(let rule): "- \(rule)"
                default: "?"
                }
            } == [
                "+ 7120: from all to 198.51.100.0/24 lookup main suppress_prefixlength 0",
                "- 7120: from all to 2001:db8:1::/64 lookup main suppress_prefixlength 0",
                "- 7120: from all to 203.0.113.0/24 lookup main suppress_prefixlength 0",
            ])
    }

    @Test func domesticDestinationsLeaveTheTunnelLastAndEnterItFirst() {
        var request = Example.request
        request.domestic = Example.prefixes("1.0.1.0/24", "2001:250::/35")
        let plan = HostPlanBuilder.plan(request)
        let list = request.domestic
        #expect(
            PlanDiff.steps(from: Example.plan, to: plan) == [.acceptDomestic(list), .throwDomestic(list)])
        #expect(PlanDiff.steps(from: plan, to: Example.plan) == [.keepDomestic(list), .refuseDomestic])
        #expect(PlanDiff.steps(from: plan, to: .empty).first == .keepDomestic(list))
        #expect(
            PlanDiff.steps(from: plan, to: plan, replacingLink: true).allSatisfy { step in
                switch step {
                case .addRoutes(let routes), .removeRoutes(let routes): routes.allSatisfy { $0.target != .thrown }
                case .acceptDomestic, .throwDomestic, .keepDomestic, .refuseDomestic: false
                default: true
                }
            }, "a new sandbox leaves domestic traffic alone")
        request.guardLifetime = .worker
        let other = HostPlanBuilder.plan(request)
        #expect(
            PlanDiff.steps(from: plan, to: other) == [.setGuard(other.guardTable!)],
            "the table of domestic destinations is one of its own")
    }

    @Test func everyDiffLeadsThere() {
        var other = Example.request
        other.onLink = Example.prefixes("198.51.100.0/24", "2001:db8:2::/64")
        other.domestic = Example.prefixes("1.0.1.0/24", "2001:250::/35")
        other.guardLifetime = .worker
        other.mtu = HostPlanRequest.tunOnlyMTU
        var moved = other
        moved.addresses = LinkAddresses.select(avoiding: Example.prefixes("198.19.0.0/16", "fd74::/16"))!
        moved.guardLifetime = nil
        let plans = [
            HostPlan.empty, Example.plan, HostPlanBuilder.plan(other), HostPlanBuilder.plan(moved),
            HostPlanBuilder.blocked(other),
        ]
        for from in plans {
            for to in plans {
                #expect(outcome(from, to).holdsTheSame(as: to))
                if to.link != nil { #expect(outcome(from, to, replacingLink: true).holdsTheSame(as: to)) }
            }
        }
    }
}
