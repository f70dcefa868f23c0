// Connections of the host: listing them and resetting those that lead nowhere. As `ss` and `ss -K` do.

package import Addressing
internal import CNetlink
internal import Linux
package import NetworkPlan

/// A connection, or a socket that waits for others, in this network namespace (sock_diag(7)).
package struct HostConnection: Hashable, Sendable {
    /// The address on this side.
    package let local: IPAddress
    /// The port on this side.
    package let localPort: Port
    /// The peer's address.
    package let remote: IPAddress
    /// The peer's port.
    package let remotePort: Port
    /// Who holds it.
    package let user: UserID
    /// Whether it waits for connections; of UDP, whether it speaks with anyone.
    package let isListening: Bool
    fileprivate let transport: TransportProtocol
    /// The kernel's name for it: AF_INET or AF_INET6, and its identity.
    fileprivate let family: UInt8
    fileprivate let identity: [UInt8]

    /// Of a listening socket: whether a connection can be one it has taken. Those it takes are of its family, and IPv4 under
    /// mapped addresses counts as IPv6.
    package func canHaveTaken(_ connection: HostConnection) -> Bool {
        isListening && transport == connection.transport && family == connection.family
            && localPort == connection.localPort && [.unspecified(local.family), connection.local].contains(local)
    }
}

/// Lists and resets connections in the network namespace it was made in.
package struct ConnectionSocket: ~Copyable {
    private let socket: RouteSocket

    /// - Throws: `NetlinkError`.
    package init() throws(NetlinkError) { socket = try RouteSocket(kind: NETLINK_SOCK_DIAG) }

    /// SOCK_DIAG_BY_FAMILY.
    private static let listing = Int(SOCK_DIAG_BY_FAMILY)
    /// As bits (`tcp_states.h`): ESTABLISHED, SYN_SENT, FIN_WAIT1, FIN_WAIT2, CLOSE, CLOSE_WAIT, LAST_ACK, LISTEN and CLOSING.
    /// A socket its program has closed sends what is queued for minutes to come; one in SYN_RECV comes in, and one in
    /// TIME_WAIT has nothing to send.
    private static let states: UInt32 = [1, 2, 4, 5, closed, 8, 9, listen, 11].reduce(0) { $0 | 1 << $1 }
    /// Of UDP: without a peer.
    fileprivate static let closed: UInt32 = 7
    fileprivate static let listen: UInt32 = 10

    /// Connections that are open, opening or closing, and listening sockets, of both families.
    package func connections(_ transport: TransportProtocol = .tcp) throws(NetlinkError) -> [HostConnection] {
        var found: [HostConnection] = []
        for family in AddressFamily.allCases {
            var ofFamily: [HostConnection] = []
            var header = inet_diag_req_v2()
            header.sdiag_family = family.number
            header.sdiag_protocol = transport.rawValue
            header.idiag_states = Self.states
            let request = Request(Self.listing, flags: 0, header)
            try socket.dump(request, "listing", "connections") { reply in
                if let connection = HostConnection(reply, transport) { ofFamily.append(connection) }
            } restart: {
                ofFamily = []
            }
            found += ofFamily
        }
        return found
    }

    /// Resets a connection: its holder gets ECONNABORTED at once instead of waiting for answers that cannot come.
    /// - Throws: `NetlinkError`; `notSupported` on a kernel built without this (CONFIG_INET_DIAG_DESTROY).
    @discardableResult
    package func reset(_ connection: HostConnection) throws(NetlinkError) -> Removal {
        try destroy(
            connection.transport, connection.family, connection.identity, "to port \(connection.remotePort)")
    }

    /// Whether the kernel can reset connections of this kind at all: it is asked to reset one that nobody has.
    package func canReset(_ transport: TransportProtocol) -> Bool {
        (try? destroy(transport, AddressFamily.ipv4.number, [], "of nobody")) != nil
    }

    private func destroy(
        _ transport: TransportProtocol, _ family: UInt8, _ identity: [UInt8], _ subject: String
    ) throws(NetlinkError) -> Removal {
        var header = inet_diag_req_v2()
        header.sdiag_family = family
        header.sdiag_protocol = transport.rawValue
        header.idiag_states = Self.states
        withUnsafeMutableBytes(of: &header.id) { $0.copyBytes(from: identity) }
        let request = Request(Int(SOCK_DESTROY), flags: 0, header)
        return try socket.removal { () throws(NetlinkError) in
            try socket.execute(request, "resetting the connection", subject)
        }
    }
}

extension HostConnection {
    fileprivate init?(_ reply: Reply, _ transport: TransportProtocol) {
        guard Int(reply.type) == Int(SOCK_DIAG_BY_FAMILY), let message = reply.header(inet_diag_msg.self) else {
            return nil
        }
        func address(_ bytes: [UInt8]) -> IPAddress? {
            guard message.idiag_family == AddressFamily.ipv6.number else { return IPAddress(bytes: bytes.prefix(4)) }
            // A socket of both families speaks IPv4 under a mapped address.
            guard let six = IPv6Address(bytes: bytes) else { return nil }
            return six.mappedIPv4.map { .ipv4($0) } ?? .ipv6(six)
        }
        guard let local = address(withUnsafeBytes(of: message.id.idiag_src) { Array($0) }),
            let remote = address(withUnsafeBytes(of: message.id.idiag_dst) { Array($0) })
        else { return nil }
        self.local = local
        self.remote = remote
        localPort = Port(rawValue: UInt16(bigEndian: message.id.idiag_sport))
        remotePort = Port(rawValue: UInt16(bigEndian: message.id.idiag_dport))
        user = UserID(rawValue: message.idiag_uid)
        isListening =
            UInt32(message.idiag_state) == (transport == .tcp ? ConnectionSocket.listen : ConnectionSocket.closed)
        self.transport = transport
        family = message.idiag_family
        identity = withUnsafeBytes(of: message.id) { Array($0) }
    }
}
