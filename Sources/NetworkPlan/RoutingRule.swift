// One policy routing rule as a value, written the way `ip rule` shows it.

package import Addressing

/// The transport protocol of a rule.
package enum TransportProtocol: UInt8, Hashable, Sendable, CustomStringConvertible {
    case tcp = 6
    case udp = 17

    package var description: String { self == .tcp ? "tcp" : "udp" }
}

/// One policy routing rule (ip-rule(8)). A selector that is nil matches everything.
package struct RoutingRule: Hashable, Sendable {
    /// What happens to a packet that matches.
    package enum Action: Hashable, Sendable {
        /// Look into a table; routes no longer than `suppressingLength` are passed over.
        case lookup(RouteTable, suppressingLength: Int? = nil)
        /// Continue at the rule with this priority.
        case goto(RulePriority)
        /// Nothing; the next rule is looked at.
        case nop
    }

    /// The family the rule belongs to; each has its own list.
    package var family: AddressFamily
    /// Its place in the list.
    package var priority: RulePriority
    /// The source, `from`.
    package var source: Prefix?
    /// The destination, `to`.
    package var destination: Prefix?
    /// The packet mark, `fwmark`.
    package var mark: FirewallMark?
    /// The incoming interface, `iif`; `lo` means "made on this host".
    package var incoming: InterfaceName?
    /// The user of the socket, `uidrange`.
    package var users: UserIDRange?
    /// The transport protocol, `ipproto`.
    package var transport: TransportProtocol?
    /// The source port, `sport`.
    package var sourcePort: Port?
    /// The destination port, `dport`.
    package var destinationPort: Port?
    /// What to do with a match.
    package var action: Action

    /// A rule; leave out what does not matter.
    package init(
        _ family: AddressFamily, _ priority: RulePriority, source: Prefix? = nil, destination: Prefix? = nil,
        mark: FirewallMark? = nil, incoming: InterfaceName? = nil, users: UserIDRange? = nil,
        transport: TransportProtocol? = nil, sourcePort: Port? = nil, destinationPort: Port? = nil, action: Action
    ) {
        self.family = family
        self.priority = priority
        self.source = source
        self.destination = destination
        self.mark = mark
        self.incoming = incoming
        self.users = users
        self.transport = transport
        self.sourcePort = sourcePort
        self.destinationPort = destinationPort
        self.action = action
    }

    /// True when the rule leads packets into the tunnel.
    package var captures: Bool {
        guard case .lookup(let table, _) = action else { return false }
        return table == Reserved.tunnelTable || table == Reserved.dnsTable
    }
}

extension RoutingRule: CustomStringConvertible {
    /// As `ip rule` shows it, with a space where it prints a tab. `ip -6 rule` looks the same, so the family is not in it.
    package var description: String {
        var words = ["\(priority):", "from", source?.shortDescription ?? "all"]
        if let destination { words += ["to", destination.shortDescription] }
        if let mark { words += ["fwmark", mark.description] }
        if let incoming { words += ["iif", incoming.description] }
        if let users { words += ["uidrange", users.description] }
        if let transport { words += ["ipproto", transport.description] }
        if let sourcePort { words += ["sport", sourcePort.description] }
        if let destinationPort { words += ["dport", destinationPort.description] }
        switch action {
        case .lookup(let table, let length):
            words += ["lookup", table.description]
            if let length { words += ["suppress_prefixlength", String(length)] }
        case .goto(let priority): words += ["goto", priority.description]
        case .nop: words.append("nop")
        }
        return words.joined(separator: " ")
    }
}
