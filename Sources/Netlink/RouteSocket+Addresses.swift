// Addresses of links: adding, removing, listing. As `ip address` does.

package import Addressing
internal import CNetlink

/// An address as the kernel describes it.
package struct AddressRecord: Hashable, Sendable {
    /// The link it is on.
    package let index: InterfaceIndex
    /// The address of this host.
    package let address: IPAddress
    /// The network it spans; with a point-to-point address, that of the other end.
    package let prefix: Prefix
    /// True for addresses that are valid beyond the link (RT_SCOPE_UNIVERSE or site).
    package let isGlobal: Bool
}

extension RouteSocket {
    /// Adds an address to a link; an IPv6 one without duplicate detection, for there is nobody else on the link.
    ///
    /// `ip address add ADDRESS/LENGTH dev LINK nodad`
    @discardableResult
    package func add(_ address: InterfaceAddress, to link: InterfaceIndex) throws(NetlinkError) -> Addition {
        let request = addressRequest(Int(RTM_NEWADDR), flags: NLM_F_CREATE | NLM_F_EXCL, address, link)
        return try addition { () throws(NetlinkError) in
            try execute(request, "adding address", "\(address) to link \(link)")
        }
    }

    /// Takes an address from a link. `ip address delete ADDRESS/LENGTH dev LINK`
    @discardableResult
    package func remove(_ address: InterfaceAddress, from link: InterfaceIndex) throws(NetlinkError) -> Removal {
        let request = addressRequest(Int(RTM_DELADDR), flags: 0, address, link)
        return try removal { () throws(NetlinkError) in
            try execute(request, "removing address", "\(address) from link \(link)")
        }
    }

    private func addressRequest(
        _ type: Int, flags: Int32, _ address: InterfaceAddress, _ link: InterfaceIndex
    ) -> Request {
        var header = ifaddrmsg()
        header.ifa_family = address.family.number
        header.ifa_prefixlen = UInt8(address.length)
        header.ifa_index = UInt32(bitPattern: link.rawValue)
        if address.family == .ipv6 { header.ifa_flags = UInt8(IFA_F_NODAD) }
        let request = Request(type, flags: flags, header)
        request.put(Int(IFA_LOCAL), bytes: address.address.bytes)
        request.put(Int(IFA_ADDRESS), bytes: address.address.bytes)
        return request
    }

    /// Every address of the namespace, both families.
    package func addresses() throws(NetlinkError) -> [AddressRecord] {
        var addresses: [AddressRecord] = []
        let request = Request(Int(RTM_GETADDR), flags: 0, ifaddrmsg())
        try dump(request, "listing", "addresses") { reply in
            if let address = AddressRecord(reply) { addresses.append(address) }
        } restart: {
            addresses = []
        }
        return addresses
    }
}

extension AddressRecord {
    init?(_ reply: Reply) {
        guard Int(reply.type) == Int(RTM_NEWADDR), let header = reply.header(ifaddrmsg.self) else { return nil }
        let attributes = reply.attributes(after: ifaddrmsg.self)
        // With one address both attributes hold it; with two, IFA_ADDRESS is the other end's (rtnetlink(7)).
        let other = attributes[Int(IFA_ADDRESS)].flatMap { IPAddress(bytes: $0) }
        let own = attributes[Int(IFA_LOCAL)].flatMap { IPAddress(bytes: $0) } ?? other
        guard let own, let prefix = Prefix(containing: other ?? own, length: Int(header.ifa_prefixlen)) else {
            return nil
        }
        index = InterfaceIndex(rawValue: Int32(bitPattern: header.ifa_index))
        address = own
        self.prefix = prefix
        isGlobal = header.ifa_scope < UInt8(RT_SCOPE_LINK.rawValue)
    }
}
