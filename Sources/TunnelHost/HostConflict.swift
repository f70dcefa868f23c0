// Why the tunnel cannot have the names and numbers it needs on this host.

package import Addressing

/// Something on the host holds what the tunnel needs. Nothing has been changed.
package enum HostConflict: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another worker holds a tunnel in this network namespace.
    case workerRunning(pid: Int32)
    /// A link has our name and is not ours.
    case linkTaken(InterfaceName, kind: String)
    /// A rule has one of our priorities and is not ours.
    case priorityTaken(RulePriority, AddressFamily)
    /// A table of ours holds a route that is not ours.
    case tableTaken(RouteTable, route: String)
    /// Every network of the short list is in use.
    case noFreeAddresses

    /// What is wrong, in one sentence.
    package var problem: String {
        switch self {
        case .workerRunning(let pid): "another worker (process \(pid)) already holds a tunnel in this network namespace"
        case .linkTaken(let name, let kind): "a \(kind) link named \(name) exists and is not Trocket's"
        case .priorityTaken(let priority, let family):
            "a routing rule of another program has priority \(priority) (\(family == .ipv4 ? "IPv4" : "IPv6"))"
        case .tableTaken(let table, let route):
            "routing table \(table) holds a route of another program (\(route))"
        case .noFreeAddresses: "every network Trocket could use for its link is in use on this host"
        }
    }

    /// What the user can do.
    package var remedy: String {
        switch self {
        case .workerRunning: "disconnect there first, or stop that worker"
        case .linkTaken(let name, _): "rename or delete it: ip link delete \(name)"
        case .priorityTaken(let priority, let family):
            "stop that program, or look at: ip \(family == .ipv4 ? "" : "-6 ")rule show priority \(priority)"
        case .tableTaken(let table, _): "stop that program, or look at: ip route show table \(table)"
        case .noFreeAddresses: "free one of 198.19.77.0/30, 10.213.77.0/30, fd74:726f:636b:6574::/126"
        }
    }

    package var description: String { "\(problem); \(remedy)" }
}
