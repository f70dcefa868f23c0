// What is installed after each step, so that a plan carried out by half is still known exactly.

internal import Addressing

extension HostPlan {
    /// Takes note of a step that has been carried out.
    package mutating func record(_ step: PlanStep) {
        switch step {
        case .setGuard(let table): guardTable = table
        case .removeGuard: guardTable = nil
        case .addLink(let plan): link = plan
        case .removeLink(let name):
            link = nil
            routes.removeAll { $0.link == name }
        case .addRoutes(let added):
            let known = Set(routes)
            routes += added.filter { !known.contains($0) }
        case .removeRoutes(let removed):
            let gone = Set(removed)
            routes.removeAll { gone.contains($0) }
        case .throwDomestic(let prefixes): domestic = prefixes
        case .keepDomestic: domestic = []
        case .acceptDomestic, .refuseDomestic: break
        case .addRule(let rule): if !rules.contains(rule) { rules.append(rule) }
        case .removeRule(let rule): rules.removeAll { $0 == rule }
        }
    }

    /// True when both want the same, in whatever order it was put in place.
    package func holdsTheSame(as other: HostPlan) -> Bool {
        link == other.link && guardTable == other.guardTable && Set(routes) == Set(other.routes)
            && Set(rules) == Set(other.rules) && domestic == other.domestic
    }
}

extension RoutingRule {
    /// True for a rule that only this program makes: one of the priorities it takes, with what it does there. This is how
    /// rules are recognised that a worker left behind without a ledger.
    package var isOfOurShape: Bool {
        let tunnel = RoutingRule.Action.lookup(Reserved.tunnelTable)
        switch priority {
        case Reserved.engineRule: return users != nil && action == .goto(Reserved.endRule)
        case Reserved.dissectRule: return destinationPort == .dns && sourcePort == .dns && action == .nop
        case Reserved.dnsRule: return destinationPort == .dns && action == .lookup(Reserved.dnsTable)
        case Reserved.secureDNSRule: return destinationPort == .dnsOverTLS && action == .lookup(Reserved.dnsTable)
        case Reserved.broadcastRule: return destination != nil && action == .lookup(.main)
        case Reserved.localRule: return destination != nil && action == .lookup(.main, suppressingLength: 0)
        case Reserved.captureRule: return source != nil && incoming == .loopback && captures
        case Reserved.sourceRule: return source != nil && action == .lookup(.main)
        case Reserved.captureRestRule: return incoming == .loopback && action == tunnel
        case Reserved.endRule: return users != nil && action == .lookup(.main)
        default: return false
        }
    }
}
