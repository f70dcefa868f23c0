// Asking the kernel which way packets would take. As `ip route get` does, many at a time.

package import Addressing
internal import CNetlink
package import NetworkPlan

/// Where the kernel would send packets.
package struct Way: Hashable, Sendable {
    /// The link they leave by; nil when there is none for them.
    package let link: InterfaceIndex?
    /// The table that says so; nil when none does, or when a rule refuses them.
    package let table: RouteTable?

    /// No way.
    package static let none = Way(link: nil, table: nil)
}

extension RouteSocket {
    /// The ways packets would take, in the order of the questions: all in one datagram, as each answer takes the kernel
    /// microseconds.
    /// - Throws: `NetlinkError` when the kernel does not answer; packets it would refuse have no way.
    package func ways(of packets: [SamplePacket]) throws(NetlinkError) -> [Way] {
        var ways = packets.map { _ in Way.none }
        try askAll(count: packets.count, "asking for the way") {
            wayRequest(packets[$0])
        } each: { position, reply in
            guard Int(reply.type) == Int(RTM_NEWROUTE) else { return }
            let attributes = reply.attributes(after: rtmsg.self)
            let link: Int32? = attributes.value(Int(RTA_OIF.rawValue))
            ways[position] = Way(
                link: link.map(InterfaceIndex.init(rawValue:)),
                table: attributes.value(Int(RTA_TABLE.rawValue)).map(RouteTable.init(rawValue:)))
        }
        return ways
    }

    private func wayRequest(_ packet: SamplePacket) -> Request {
        let family = packet.destination.family
        var header = rtmsg()
        header.rtm_family = family.number
        header.rtm_dst_len = UInt8(family.bits)
        // IPv6 names the table anyway and refuses the flag.
        header.rtm_flags = family == .ipv4 ? UInt32(RTM_F_LOOKUP_TABLE) : 0
        let request = Request(Int(RTM_GETROUTE), flags: 0, header)
        request.put(Int(RTA_DST.rawValue), bytes: packet.destination.bytes)
        if let user = packet.user { request.put(Int(RTA_UID.rawValue), user.rawValue) }
        request.put(Int(RTA_IP_PROTO.rawValue), packet.transport.rawValue)
        request.put(Int(RTA_DPORT.rawValue), packet.port.rawValue.bigEndian)
        return request
    }
}
