// How to get from one host plan to another: what to add first, what to take away afterwards.

package import Addressing

/// One change to the host.
package enum PlanStep: Hashable, Sendable {
    /// Put the guard in place, in exchange for the one that may be there, without a gap.
    case setGuard(GuardTable)
    /// Take the guard away.
    case removeGuard
    /// Make the veth pair, address it and set it up.
    case addLink(LinkPlan)
    /// Delete the veth pair; its addresses and routes go with it.
    case removeLink(InterfaceName)
    /// Add routes, many at a time.
    case addRoutes([Route])
    /// Remove routes, many at a time.
    case removeRoutes([Route])
    /// Let these destinations, and no others, pass the guard by choice.
    case acceptDomestic([Prefix])
    /// Let no destination pass the guard by choice.
    case refuseDomestic
    /// Throw these destinations out of the tunnel's table.
    case throwDomestic([Prefix])
    /// Throw them no longer.
    case keepDomestic([Prefix])
    /// Add a rule.
    case addRule(RoutingRule)
    /// Remove a rule.
    case removeRule(RoutingRule)
}

/// The steps between two host plans. Additions come before removals; the guard closes first and opens last; a rule that
/// leads into the tunnel comes after the rules that say what must not.
package enum PlanDiff {
    /// The steps from one plan to another. `replacingLink` asks for a new pair though its description is the same: the
    /// sandbox behind it is another one.
    package static func steps(from old: HostPlan, to new: HostPlan, replacingLink: Bool = false) -> [PlanStep] {
        let linkChanges = old.link != new.link || (replacingLink && new.link != nil)
        let gone = linkChanges ? old.link?.name : nil
        let oldRoutes = Set(old.routes)
        let newRoutes = Set(new.routes)
        let oldRules = Set(old.rules)
        let newRules = Set(new.rules)
        // Routes through a link that is replaced vanish with it, so they are added again.
        let added = new.routes.filter { !oldRoutes.contains($0) || (gone != nil && $0.link == gone) }
        let removed = old.routes.filter { !newRoutes.contains($0) && (gone == nil || $0.link != gone) }

        var steps: [PlanStep] = []
        let domesticChanges = old.domestic != new.domestic
        if domesticChanges, !old.domestic.isEmpty {
            steps.append(.keepDomestic(old.domestic))
            if old.guardTable != nil { steps.append(.refuseDomestic) }
        }
        if let table = new.guardTable, table != old.guardTable { steps.append(.setGuard(table)) }
        if linkChanges, let link = new.link {
            steps += old.link == nil ? [.addLink(link)] : replacement(of: old, by: link)
        }
        if !added.isEmpty { steps.append(.addRoutes(added)) }
        if linkChanges, old.link != nil, new.link != nil { steps.append(.removeRoutes(holding(old))) }
        steps += installOrder(new.rules.filter { !oldRules.contains($0) }).map(PlanStep.addRule)
        if domesticChanges, !new.domestic.isEmpty {
            if new.guardTable != nil { steps.append(.acceptDomestic(new.domestic)) }
            steps.append(.throwDomestic(new.domestic))
        }
        steps += installOrder(old.rules.filter { !newRules.contains($0) }).reversed().map(PlanStep.removeRule)
        if !removed.isEmpty { steps.append(.removeRoutes(removed)) }
        if new.link == nil, let link = old.link { steps.append(.removeLink(link.name)) }
        if new.guardTable == nil, old.guardTable != nil { steps.append(.removeGuard) }
        return steps
    }

    /// A link's name can be had once, so the old link goes before the new one comes; meanwhile the tables refuse.
    private static func replacement(of old: HostPlan, by link: LinkPlan) -> [PlanStep] {
        guard let name = old.link?.name else { return [.addLink(link)] }
        return [.addRoutes(holding(old)), .removeLink(name), .addLink(link)]
    }

    /// Routes that refuse everything, behind the ones into the tunnel: in every table and family that has one.
    private static func holding(_ plan: HostPlan) -> [Route] {
        plan.routes.filter { $0.destination.isDefault && $0.link == plan.link?.name }.map {
            Route($0.destination, .unreachable, table: $0.table, metric: holdingMetric)
        }
    }

    /// Behind every route of ours.
    private static let holdingMetric: UInt32 = 7_100_000

    /// The order to add rules in: the target of the jump, then what must not be captured, then what must. Removal goes the
    /// other way round.
    package static func installOrder(_ rules: [RoutingRule]) -> [RoutingRule] {
        func rank(_ rule: RoutingRule) -> (Int, RulePriority) {
            (rule.captures ? 2 : rule.priority == Reserved.endRule ? 0 : 1, rule.priority)
        }
        return rules.enumerated().sorted { left, right in
            let (a, b) = (rank(left.element), rank(right.element))
            return a == b ? left.offset < right.offset : a < b
        }.map(\.element)
    }
}
