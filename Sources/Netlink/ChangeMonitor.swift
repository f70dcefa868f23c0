// Hearing of changes that anyone makes to links, addresses, routes, rules and nft tables.

internal import CNetlink
internal import CNetlinkShims
internal import Linux

/// What changed, coarsely: enough to know what to read again.
package enum NetworkChange: Hashable, Sendable, CaseIterable {
    case link, address, route, rule, firewall
    /// A route that is no way out, such as one that throws, which nearly nobody else makes.
    case deadEnd
}

/// Hears of changes in the network namespace it was made in. Two non-blocking sockets for the event loop: one for routing
/// and, where the kernel has it, one for nft.
package final class ChangeMonitor {
    private let routing: OpaquePointer
    private let firewall: OpaquePointer?

    /// Joins the multicast groups of both families.
    /// - Throws: `NetlinkError` when there is no socket for routing; a missing nft is no error.
    package init() throws(NetlinkError) {
        routing = try Self.open(
            NETLINK_ROUTE,
            [
                RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
                RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,
            ].map { Int32($0.rawValue) })
        firewall = try? Self.open(NETLINK_NETFILTER, [Self.nftablesGroup])
    }

    deinit {
        nl_socket_free(routing)
        if let firewall { nl_socket_free(firewall) }
    }

    /// NFNLGRP_NFTABLES, see linux/netfilter/nfnetlink.h.
    private static let nftablesGroup: Int32 = 7

    private static func open(_ kind: Int32, _ groups: [Int32]) throws(NetlinkError) -> OpaquePointer {
        guard let socket = nl_socket_alloc() else { fatalError("out of memory while making a netlink socket") }
        guard nl_connect(socket, kind) == 0, nl_socket_set_nonblocking(socket) == 0,
            groups.allSatisfy({ nl_socket_add_membership(socket, $0) == 0 })
        else {
            nl_socket_free(socket)
            let failure = -cns_probe(kind)
            throw NetlinkError(
                "listening for", "network changes", failure == 0 ? .notPermitted : Errno(rawValue: failure))
        }
        nl_socket_set_buffer_size(socket, 212_992, 0)
        return socket
    }

    /// The descriptors to watch for readability.
    package var descriptors: [Int32] { ([routing] + (firewall.map { [$0] } ?? [])).map { nl_socket_get_fd($0) } }

    /// Takes everything that waits, without blocking. When the kernel had to drop messages, everything may have changed.
    package func drain() -> Set<NetworkChange> {
        var changes: Set<NetworkChange> = []
        drain(routing) { reply in
            switch Int(reply.type) {
            case Int(RTM_NEWLINK), Int(RTM_DELLINK): changes.insert(.link)
            case Int(RTM_NEWADDR), Int(RTM_DELADDR): changes.insert(.address)
            case Int(RTM_NEWROUTE), Int(RTM_DELROUTE):
                let header = reply.header(rtmsg.self)
                // The kernel's own are all in the table of local addresses.
                let isWay =
                    header.map { Int($0.rtm_type) == RTN_UNICAST || $0.rtm_table == UInt8(RT_TABLE_LOCAL.rawValue) }
                changes.insert(isWay ?? true ? .route : .deadEnd)
            case Int(RTM_NEWRULE), Int(RTM_DELRULE): changes.insert(.rule)
            default: break
            }
        } lost: {
            changes.formUnion([.link, .address, .route, .rule, .deadEnd])
        }
        if let firewall {
            drain(firewall) { _ in
                changes.insert(.firewall)
            } lost: {
                changes.insert(.firewall)
            }
        }
        return changes
    }

    private func drain(_ socket: OpaquePointer, _ each: (Reply) -> Void, lost: () -> Void) {
        let descriptor = nl_socket_get_fd(socket)
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
            while true {
                let count = cns_receive(descriptor, buffer.baseAddress, buffer.count)
                if count > 0 {
                    Reply.forEach(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                        each($0)
                        return true
                    }
                    continue
                }
                let failure = Errno(rawValue: Int32(-count))
                if failure != .noBufferSpace { return }
                lost()
            }
        }
    }
}
