// AF_UNIX stream sockets: listening, connecting, who the peer is, and descriptors sent along. See unix(7).

import CLinux
import Glibc

/// Who is at the other end of a socket, as the kernel recorded it at connect(2).
package struct PeerCredentials: Hashable, Sendable {
    /// The process that connected.
    package let pid: Int32
    /// Its effective uid.
    package let user: UInt32
    /// Its effective gid.
    package let group: UInt32
    /// Supplementary groups (SO_PEERGROUPS).
    package let groups: [UInt32]

    /// Reads SO_PEERCRED and SO_PEERGROUPS.
    package init(of socket: Int32) throws(SystemCallError) {
        var pid: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
        try check(cl_peer_credentials(socket, &pid, &user, &group), "asking who the peer is")
        var groups = [UInt32](repeating: 0, count: 1024)
        let count = try check(cl_peer_groups(socket, &groups, 1024), "asking for the peer's groups")
        self.pid = pid
        self.user = user
        self.group = group
        self.groups = Array(groups.prefix(Int(count)))
    }

    /// True when the group is the peer's primary or a supplementary one.
    package func isMember(of group: UInt32) -> Bool { self.group == group || groups.contains(group) }
}

/// A message received with the descriptors that came along. The receiver owns the descriptors.
package struct ReceivedMessage {
    /// What was sent; empty at the end of the stream.
    package let bytes: [UInt8]
    /// Descriptors that came along, now the caller's to close.
    package let descriptors: [Int32]
}

/// AF_UNIX sockets.
package enum UnixSocket {
    /// A non-blocking listening stream socket; a dead socket file at the path is replaced, a live one is an error.
    package static func listen(_ path: String, mode: UInt32, backlog: Int32 = 128) throws(SystemCallError) -> Descriptor
    {
        Descriptor(owning: try check(cl_unix_listen(path, mode, backlog), "listening on", path))
    }

    /// Whether a descriptor is a listening AF_UNIX stream socket.
    package static func isListening(_ descriptor: Int32) -> Bool { cl_is_unix_listener(descriptor) == 1 }

    /// Gives a socket's file to a user and group, in a directory that only root can write. Corresponds to lchown(2).
    package static func give(_ path: String, to user: UInt32, group: UInt32) throws(SystemCallError) {
        try checkErrno("giving away", path) { lchown(path, user, group) }
    }

    /// A connected, blocking stream socket.
    package static func connect(_ path: String) throws(SystemCallError) -> Descriptor {
        Descriptor(owning: try check(cl_unix_connect(path), "connecting to", path))
    }

    /// The next waiting connection, non-blocking; nil when none waits.
    package static func accept(_ listener: Int32) throws(SystemCallError) -> Descriptor? {
        let peer = cl_accept(listener)
        if peer == -Errno.wouldBlock.rawValue { return nil }
        return Descriptor(owning: try check(peer, "accepting a connection"))
    }

    /// Ends a connection whoever else holds its socket: the peer reads what was sent before, then the end. Corresponds to
    /// shutdown(2).
    package static func hangUp(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_RDWR)) }

    /// Sends bytes and up to 8 descriptors; returns how many bytes the kernel took, nil when it would block.
    package static func send(
        _ socket: Int32, _ bytes: [UInt8], descriptors: [Int32] = []
    ) throws(SystemCallError) -> Int? {
        let sent = cl_send(socket, bytes, bytes.count, descriptors, Int32(descriptors.count))
        if sent == Int(-Errno.wouldBlock.rawValue) { return nil }
        return try check(sent, "sending to a socket")
    }

    /// Whether the other end has taken all that was sent, descriptors included (unix(7), SIOCOUTQ).
    package static func hasTakenAll(_ socket: Int32) -> Bool {
        var left: Int32 = 0
        return ioctl(socket, UInt(TIOCOUTQ), &left) == 0 && left == 0
    }

    /// Receives at most `capacity` bytes; nil when nothing waits; empty bytes mean the peer closed.
    package static func receive(_ socket: Int32, capacity: Int = 65_536) throws(SystemCallError) -> ReceivedMessage? {
        var descriptors = [Int32](repeating: -1, count: 8)
        var descriptorCount: Int32 = 0
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, used in
            count = cl_receive(socket, buffer.baseAddress, capacity, &descriptors, &descriptorCount)
            used = max(0, count)
        }
        if count == Int(-Errno.wouldBlock.rawValue) { return nil }
        try check(count, "receiving from a socket")
        return ReceivedMessage(bytes: bytes, descriptors: Array(descriptors.prefix(Int(descriptorCount))))
    }
}

/// A connected pair of sockets that keeps message boundaries (socketpair(2), SOCK_SEQPACKET).
package struct SocketPair: ~Copyable {
    /// One end.
    package let first: Descriptor
    /// The other.
    package let second: Descriptor

    package init() throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        try check(cl_socket_pair(0, &ends), "creating a socket pair")
        first = Descriptor(owning: ends[0])
        second = Descriptor(owning: ends[1])
    }
    /// Keeps the second end and closes the first.
    package consuming func keepingSecond() -> Descriptor { second }
}
