// Packets that stand for ordinary traffic, for asking the kernel which way it takes.

package import Addressing

/// A packet of a program of this host that has chosen no source and bears no mark.
package struct SamplePacket: Hashable, Sendable {
    /// Where it goes.
    package let destination: IPAddress
    /// Whose it is; nil for the user who asks.
    package let user: UserID?
    /// What it is.
    package let transport: TransportProtocol
    /// The port it goes to.
    package let port: Port

    /// Whether a rule could be about this packet: every selector it has lets it.
    package func isMatched(by rule: RoutingRule) -> Bool {
        rule.family == destination.family && rule.mark == nil
            && (rule.source.map { $0.isDefault || $0.address == .unspecified($0.family) } ?? true)
            && (rule.destination?.contains(destination) ?? true) && (rule.incoming.map { $0 == .loopback } ?? true)
            && (rule.users.map { users in user.map { users.first <= $0 && $0 <= users.last } ?? true } ?? true)
            && (rule.transport.map { $0 == transport } ?? true) && rule.sourcePort == nil
            && (rule.destinationPort.map { $0 == port } ?? true)
    }
}

extension HostPlanRequest {
    /// Addresses of documentation (RFC 5737, 3849 and 9637): nobody's, so that rules about somebody's addresses are not
    /// taken for rules about everybody's.
    private static let nobodys: [AddressFamily: [IPAddress]] = [
        .ipv4: ["198.51.100.1", "203.0.113.1", "192.0.2.1"].compactMap { IPAddress($0) },
        .ipv6: ["2001:db8::1", "3fff::1"].compactMap { IPAddress($0) },
    ]

    /// Packets which have to enter the tunnel, alike but for their destinations: none of them is on the line, none domestic.
    /// Empty when there is no such destination.
    /// - Parameter isQuestion: questions to a resolver instead of pages.
    package func samples(_ family: AddressFamily, isQuestion: Bool) -> [SamplePacket] {
        (Self.nobodys[family] ?? []).filter { address in
            !onLink.contains { $0.contains(address) } && !isDomestic(address)
        }.map {
            SamplePacket(
                destination: $0, user: user, transport: isQuestion ? .udp : .tcp, port: isQuestion ? .dns : .https)
        }
    }

    /// Whether one of thousands of prefixes, sorted and none inside another, holds an address.
    private func isDomestic(_ address: IPAddress) -> Bool {
        let wanted = Prefix(host: address)
        var (low, high) = (0, domestic.count)
        while low < high {
            let middle = (low + high) / 2
            if wanted < domestic[middle] { high = middle } else { low = middle + 1 }
        }
        return low > 0 && domestic[low - 1].contains(address)
    }
}
