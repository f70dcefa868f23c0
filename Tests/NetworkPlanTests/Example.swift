// The example of the golden transcript: uplink 203.0.113.0/24 and 2001:db8:1::/64, engine user 61002.

import Addressing
import NetworkPlan

/// The example request and its plan.
enum Example {
    static func prefixes(_ texts: String...) -> [Prefix] { texts.map { Prefix($0)! } }

    static var request: HostPlanRequest {
        HostPlanRequest(
            engine: UserID(rawValue: 61002), addresses: .preferred,
            onLink: prefixes("203.0.113.0/24", "2001:db8:1::/64"), guardLifetime: .persistent)
    }

    static var plan: HostPlan { HostPlanBuilder.plan(request) }
}
