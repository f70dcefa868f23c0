// One route as a value, written the way `ip route` takes it.

package import Addressing

/// One route (ip-route(8)).
package struct Route: Hashable, Sendable {
    /// Where matching packets go.
    package enum Target: Hashable, Sendable {
        /// To a neighbour on a link.
        case gateway(IPAddress, InterfaceName)
        /// Out of a link.
        case device(InterfaceName)
        /// To this host itself (`local`).
        case local(InterfaceName)
        /// Nowhere in this table: the next rule decides (`throw`).
        case thrown
        /// Nowhere: the sender gets an error (`unreachable`).
        case unreachable
    }

    /// The destination.
    package var destination: Prefix
    /// Where it goes.
    package var target: Target
    /// The table it lives in.
    package var table: RouteTable
    /// The metric; nil for the kernel's own choice. The lowest wins.
    package var metric: UInt32?

    /// A route to a destination in a table.
    package init(_ destination: Prefix, _ target: Target, table: RouteTable, metric: UInt32? = nil) {
        self.destination = destination
        self.target = target
        self.table = table
        self.metric = metric
    }

    /// The family of the destination.
    package var family: AddressFamily { destination.family }

    /// The link the route needs, if any; it disappears with it.
    package var link: InterfaceName? {
        switch target {
        case .gateway(_, let link), .device(let link), .local(let link): link
        case .thrown, .unreachable: nil
        }
    }
}

extension Route: CustomStringConvertible {
    /// As `ip route add` (or `ip -6 route add`) takes it.
    package var description: String {
        let to = destination.isDefault ? "default" : destination.shortDescription
        let place = table == .main ? "" : " table \(table)"
        let cost = metric.map { " metric \($0)" } ?? ""
        return switch target {
        case .gateway(let address, let link): "\(to) via \(address) dev \(link)\(place)\(cost)"
        case .device(let link): "\(to) dev \(link)\(place)\(cost)"
        case .local(let link): "local \(to) dev \(link)\(place)\(cost)"
        case .thrown: "throw \(to)\(place)\(cost)"
        case .unreachable: "unreachable \(to)\(place)\(cost)"
        }
    }
}
