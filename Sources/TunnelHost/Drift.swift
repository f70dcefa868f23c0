// What differs between the plan that is installed and what the kernel says.

package import Addressing
package import NetworkPlan

/// One difference between the installed plan and the host.
package enum Drift: Hashable, Sendable, CustomStringConvertible {
    case guardMissing
    case guardChanged
    case linkMissing(InterfaceName)
    /// The link is down or has another MTU.
    case linkChanged(InterfaceName)
    /// The link is part of a bridge, a bond or a VRF.
    case linkEnslaved(InterfaceName)
    case addressMissing(InterfaceAddress)
    case routesMissing([Route])
    /// The routes that throw are not those that were put there.
    case domesticRoutesChanged(AddressFamily, RouteTable)
    case guardSetChanged(String)
    /// The table that lets domestic destinations pass the guard is gone or was changed.
    case domesticTableChanged
    /// A route of another program in a table of ours.
    case routeForeign(RouteTable, String)
    case ruleMissing(RoutingRule)

    /// True when it is about the kill-switch table.
    var isOfGuard: Bool {
        switch self {
        case .guardMissing, .guardChanged, .guardSetChanged: true
        default: false
        }
    }

    /// In a few words, for the log and for `status`.
    package var description: String {
        switch self {
        case .guardMissing: "the kill-switch table is gone"
        case .guardChanged: "the kill-switch table was changed"
        case .linkMissing(let name): "link \(name) is gone"
        case .linkChanged(let name): "link \(name) was changed"
        case .linkEnslaved(let name): "link \(name) was put into a bridge, bond or VRF"
        case .addressMissing(let address): "address \(address) is gone"
        case .routesMissing(let routes):
            routes.count == 1 ? "route \"\(routes[0])\" is gone" : "\(routes.count) routes are gone"
        case .domesticRoutesChanged(let family, let table):
            "the \(family == .ipv4 ? "IPv4" : "IPv6") throw routes of table \(table) were changed"
        case .guardSetChanged(let name): "set \(name) of the kill-switch table was changed"
        case .domesticTableChanged: "the table of domestic destinations was changed"
        case .routeForeign(let table, let route): "table \(table) holds another program's route (\(route))"
        case .ruleMissing(let rule): "\(rule.family == .ipv4 ? "IPv4" : "IPv6") rule \"\(rule)\" is gone"
        }
    }
}

/// The host did not look as asked for after everything was put in place.
package struct ReadBackError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is not as it should be.
    package let drifts: [Drift]

    package var description: String {
        "the kernel took the network plan, but reading it back shows: "
            + drifts.map(\.description).joined(separator: "; ")
            + "; another program may be removing it (look at systemd-networkd, NetworkManager and other VPN clients)"
    }
}
