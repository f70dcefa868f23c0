// Links: making veth pairs, setting them up, deleting them, looking them up. As `ip link` does.

package import Addressing
internal import CNetlink
internal import Linux
package import NetworkPlan

/// A link as the kernel describes it.
package struct LinkRecord: Hashable, Sendable {
    /// The kernel's number of it.
    package let index: InterfaceIndex
    /// Its name.
    package let name: String
    /// The kind of a made link, such as `veth` or `bridge`; nil for hardware and loopback.
    package let kind: String?
    /// The Ethernet address; nil for links without.
    package let hardwareAddress: MACAddress?
    /// IFF_UP.
    package let isUp: Bool
    /// IFF_RUNNING: there is a carrier.
    package let isRunning: Bool
    /// In bytes.
    package let mtu: UInt32
    /// A note left on the link (IFLA_IFALIAS); Trocket's names the worker.
    package let alias: String?
    /// The bridge, bond or VRF it is part of (IFLA_MASTER), which then has its traffic; nil when of none.
    package let master: InterfaceIndex?
}

extension RouteSocket {
    /// Every link of the namespace.
    package func links() throws(NetlinkError) -> [LinkRecord] {
        var links: [LinkRecord] = []
        let request = Request(Int(RTM_GETLINK), flags: 0, ifinfomsg())
        try dump(request, "listing", "links") { reply in
            if let link = LinkRecord(reply) { links.append(link) }
        } restart: {
            links = []
        }
        return links
    }

    /// The link of a name; nil when there is none.
    package func link(named name: InterfaceName) throws(NetlinkError) -> LinkRecord? {
        var found: LinkRecord?
        let request = Request(Int(RTM_GETLINK), flags: 0, ifinfomsg())
        request.put(Int(IFLA_IFNAME), name.description)
        do throws(NetlinkError) {
            try dump(request, single: true, "looking up link", name.description) { reply in
                if let link = LinkRecord(reply) { found = link }
            } restart: {
                found = nil
            }
        } catch {
            guard error.errno == .noSuchDevice else { throw error }
        }
        return found
    }

    /// Makes a veth pair whose other end is in another network namespace.
    ///
    /// `ip link add NAME address MAC mtu N type veth peer name PEER address MAC mtu N netns …`
    /// - Parameters:
    ///   - namespace: a descriptor of the other end's network namespace, or nil for this one.
    ///   - alias: a note left on the link.
    /// - Throws: `NetlinkError`; `exists` when the name is taken.
    package func addVeth(_ plan: LinkPlan, namespace: Int32?, alias: String) throws(NetlinkError) {
        let request = Request(Int(RTM_NEWLINK), flags: NLM_F_CREATE | NLM_F_EXCL, ifinfomsg())
        request.put(Int(IFLA_IFNAME), plan.name.description)
        request.put(Int(IFLA_ADDRESS), bytes: plan.hardwareAddress.bytes)
        request.put(Int(IFLA_MTU), plan.mtu)
        request.nest(Int(IFLA_LINKINFO)) {
            request.put(Int(IFLA_INFO_KIND), "veth")
            request.nest(Int(IFLA_INFO_DATA)) {
                request.nest(Int(VETH_INFO_PEER)) {
                    request.append(ifinfomsg())
                    request.put(Int(IFLA_IFNAME), plan.peer.description)
                    request.put(Int(IFLA_ADDRESS), bytes: plan.peerHardwareAddress.bytes)
                    request.put(Int(IFLA_MTU), plan.mtu)
                    if let namespace { request.put(Int(IFLA_NET_NS_FD), UInt32(bitPattern: namespace)) }
                }
            }
        }
        try execute(request, "creating link", plan.name.description)
        // The kernel takes the note only on a link that exists.
        let note = Request(Int(RTM_NEWLINK), flags: 0, ifinfomsg())
        note.put(Int(IFLA_IFNAME), plan.name.description)
        note.put(Int(IFLA_IFALIAS), alias)
        try execute(note, "leaving a note on link", plan.name.description)
    }

    /// Takes a link out of the bridge, bond or VRF it is part of. `ip link set NAME nomaster`
    package func freeLink(_ index: InterfaceIndex) throws(NetlinkError) {
        var header = ifinfomsg()
        header.ifi_index = index.rawValue
        let request = Request(Int(RTM_NEWLINK), flags: 0, header)
        request.put(Int(IFLA_MASTER), UInt32(0))
        try execute(request, "setting link", "\(index) nomaster")
    }

    /// Sets a link up or down, and its MTU when given. `ip link set NAME up mtu N`
    package func setLink(
        _ index: InterfaceIndex, up: Bool, mtu: UInt32? = nil
    ) throws(NetlinkError) {
        var header = ifinfomsg()
        header.ifi_index = index.rawValue
        header.ifi_flags = up ? linkUpFlag : 0
        header.ifi_change = linkUpFlag
        let request = Request(Int(RTM_NEWLINK), flags: 0, header)
        if let mtu { request.put(Int(IFLA_MTU), mtu) }
        try execute(request, "setting link", "\(index) \(up ? "up" : "down")")
    }

    /// Deletes a link. `ip link delete NAME`
    @discardableResult
    package func removeLink(_ name: InterfaceName) throws(NetlinkError) -> Removal {
        let request = Request(Int(RTM_DELLINK), flags: 0, ifinfomsg())
        request.put(Int(IFLA_IFNAME), name.description)
        return try removal { () throws(NetlinkError) in
            try execute(request, "deleting link", name.description)
        }
    }

    /// Runs a request that adds; EEXIST is a result.
    func addition(_ body: () throws(NetlinkError) -> Void) throws(NetlinkError) -> Addition {
        do throws(NetlinkError) { try body() } catch {
            if error.errno == .exists { return .existed }
            throw error
        }
        return .added
    }

    /// Runs a request that removes; "not there" is a result.
    func removal(_ body: () throws(NetlinkError) -> Void) throws(NetlinkError) -> Removal {
        do throws(NetlinkError) { try body() } catch {
            if error.errno.meansAbsent { return .absent }
            throw error
        }
        return .removed
    }
}

/// IFF_UP, see netdevice(7).
private let linkUpFlag: UInt32 = 1
/// IFF_RUNNING.
private let linkRunningFlag: UInt32 = 0x40

extension LinkRecord {
    init?(_ reply: Reply) {
        guard Int(reply.type) == Int(RTM_NEWLINK), let header = reply.header(ifinfomsg.self) else { return nil }
        let attributes = reply.attributes(after: ifinfomsg.self)
        index = InterfaceIndex(rawValue: header.ifi_index)
        name = attributes.string(Int(IFLA_IFNAME)) ?? ""
        kind = attributes.nested(Int(IFLA_LINKINFO))?.string(Int(IFLA_INFO_KIND))
        hardwareAddress = attributes[Int(IFLA_ADDRESS)].flatMap { MACAddress(bytes: $0) }
        isUp = header.ifi_flags & linkUpFlag != 0
        isRunning = header.ifi_flags & linkRunningFlag != 0
        mtu = attributes.value(Int(IFLA_MTU)) ?? 0
        alias = attributes.string(Int(IFLA_IFALIAS))
        master = attributes.value(Int(IFLA_MASTER), as: Int32.self).map(InterfaceIndex.init(rawValue:))
    }
}
