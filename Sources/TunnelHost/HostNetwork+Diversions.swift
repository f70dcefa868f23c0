// Whether ordinary traffic goes into the tunnel at all: rules of other programs may stand in front of ours, which are then
// all there and of no use.

package import Addressing
internal import Logging
internal import Netlink
internal import NetworkPlan

/// Traffic of one family which the kernel sends elsewhere than into the tunnel. The guard stops it.
package struct Diversion: Hashable, Sendable, CustomStringConvertible {
    /// IPv4 or IPv6.
    package let family: AddressFamily
    /// Whether it is questions to resolvers only.
    package let onlyNames: Bool
    /// The link it would leave by; nil when by none.
    package let link: String?
    /// The rule that does it, as `ip rule` shows it; nil when it was not found.
    package let rule: String?

    /// In a few words, for the log.
    package var description: String {
        (family == .ipv4 ? "IPv4" : "IPv6") + (onlyNames ? " DNS" : "") + " to " + (link ?? "nowhere") + " by rule "
            + (rule.map { "\"\($0)\"" } ?? "unknown")
    }
}

extension HostNetwork {
    /// Asks the kernel where ordinary traffic goes, without a mark and for the user the tunnel belongs to. To be asked between
    /// our own changes, never in the midst of them. Rules of other programs are named and left alone.
    /// - Returns: whether that is otherwise than at the last look.
    /// - Throws: `NetlinkError`.
    @discardableResult
    package func lookForDiversions() throws -> Bool {
        let found = try findDiversions()
        guard found != diversions else { return false }
        for diversion in found where !diversions.contains(diversion) {
            log(.warning, "traffic does not go into the tunnel", ["what": diversion.description])
        }
        if found.isEmpty { log(.notice, "traffic goes into the tunnel again") }
        diversions = found
        return true
    }

    private func findDiversions() throws(NetlinkError) -> [Diversion] {
        guard let request, let name = installed.link?.name, let link = try socket.link(named: name) else { return [] }
        let families: [AddressFamily] = request.hasIPv6 ? [.ipv4, .ipv6] : [.ipv4]
        // Pages first: where they are diverted nobody cares for names.
        let samples = families.flatMap {
            [request.samples($0, isQuestion: false), request.samples($0, isQuestion: true)]
        }
        var ways = try socket.ways(of: samples.flatMap(\.self))[...]
        var found: [Diversion] = []
        for packets in samples {
            let taken = ways.prefix(packets.count)
            ways = ways.dropFirst(packets.count)
            // A rule about some destinations is no concern of ours.
            guard let packet = packets.first, let way = taken.first, !taken.contains(where: { $0.link == link.index }),
                found.last?.family != packet.destination.family
            else { continue }
            found.append(
                Diversion(
                    family: packet.destination.family, onlyNames: packet.port == .dns,
                    link: try way.link.flatMap { index throws(NetlinkError) in
                        try linkNames()[index]?.description ?? "link \(index)"
                    },
                    rule: try rule(before: Reserved.endRule, taking: packet, way)?.description))
        }
        return found
    }

    /// The first rule of another program that may have sent a packet its way.
    private func rule(
        before end: RulePriority, taking packet: SamplePacket, _ way: Way
    ) throws(NetlinkError) -> RuleRecord? {
        let rules = try socket.rules(packet.destination.family).filter { rule in
            // Rule 0 leads to the addresses of this host.
            rule.priority.rawValue > 0 && rule.priority < end && !rule.wantsMark && rule.planned?.isOfOurShape != true
                && rule.planned.map(packet.isMatched) ?? true
        }
        let leading = rules.filter { $0.table == way.table }
        return leading.first { $0.planned != nil } ?? leading.first ?? rules.first { $0.table == nil } ?? rules.first
    }
}
