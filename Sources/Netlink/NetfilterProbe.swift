// Whether a socket to netfilter can be made, asked before libnftables is: it ends the process when it cannot make one.

internal import CNetlink
internal import CNetlinkShims
package import Linux

/// Why no netfilter socket can be made; nil when one can.
package func netfilterRefusal() -> Errno? {
    let result = cns_probe(NETLINK_NETFILTER)
    return result == 0 ? nil : Errno(rawValue: -result)
}
