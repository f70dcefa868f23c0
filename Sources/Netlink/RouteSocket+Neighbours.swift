// Neighbours of links: who is reached under which hardware address. As `ip neighbour` does.

package import Addressing
internal import CNetlink
package import NetworkPlan

extension RouteSocket {
    /// Writes down a neighbour for as long as the link is up, in place of whatever was known of it.
    ///
    /// `ip neighbour replace ADDRESS lladdr HARDWARE-ADDRESS dev LINK nud permanent`
    /// - Throws: `NetlinkError`.
    package func set(_ neighbour: Neighbour, on link: InterfaceIndex) throws(NetlinkError) {
        var header = ndmsg()
        header.ndm_family = neighbour.address.family.number
        header.ndm_ifindex = link.rawValue
        header.ndm_state = UInt16(NUD_PERMANENT)
        let request = Request(Int(RTM_NEWNEIGH), flags: NLM_F_CREATE | NLM_F_REPLACE, header)
        request.put(Int(NDA_DST), bytes: neighbour.address.bytes)
        request.put(Int(NDA_LLADDR), bytes: neighbour.hardwareAddress.bytes)
        try execute(request, "adding neighbour", "\(neighbour.address) on link \(link)")
    }
}
