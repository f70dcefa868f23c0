// What is asked of the system around libnftables: whether a socket to netfilter can be made (libnftables ends the process
// when it cannot make one), and to take back the memory that large sets needed.

internal import CNetlink
internal import CNetlinkShims
package import Linux

/// Gives memory that thousands of routes or set elements took on their way to the kernel back to the system.
package func releaseUnusedMemory() { cns_release_memory() }

/// The descriptors of this process's netfilter sockets. What libnftables opened is found by looking before and after, for it
/// does not tell.
package func netfilterSockets() -> Set<Int32> {
    Set((0..<256).filter { cns_is_netlink($0, NETLINK_NETFILTER) != 0 })
}

/// Why no netfilter socket can be made; nil when one can.
package func netfilterRefusal() -> Errno? {
    let result = cns_probe(NETLINK_NETFILTER)
    return result == 0 ? nil : Errno(rawValue: -result)
}
