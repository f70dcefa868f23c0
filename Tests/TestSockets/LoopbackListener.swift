// What servers of tests begin with: a TCP port of their own on loopback, and connections no child of another test inherits.

import Glibc
package import Linux

/// A TCP socket on 127.0.0.1 with a port of the kernel's choice.
package final class LoopbackListener: Sendable {
    /// Where it is bound.
    package let port: UInt16
    /// The socket, to be waited on.
    package let number: Int32

    /// - Parameter listening: false for a port that refuses connections until `listen()`.
    /// - Throws: `SystemCallError`.
    package init(listening: Bool = true) throws(SystemCallError) {
        number = try checkErrno("making a socket") {
            socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = number
        try checkErrno("binding to", "127.0.0.1") {
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                    let bound = bind(number, raw, length)
                    return bound == 0 ? getsockname(number, raw, &length) : bound
                }
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if listening { try listen() }
    }

    deinit { close(number) }

    /// Takes connections from now on.
    /// - Throws: `SystemCallError`.
    package func listen() throws(SystemCallError) {
        let number = number
        try checkErrno("listening on", "127.0.0.1") { Glibc.listen(number, 64) }
    }

    /// Ends it for one who waits for a connection; the socket stays until this object goes.
    package func end() { shutdown(number, Int32(SHUT_RDWR)) }
}

/// The next connection of a listening socket, waited for where the listener waits; reads from it wait, too.
/// - Throws: `SystemCallError` when the listener was ended.
package func nextConnection(_ listener: Int32) throws -> Descriptor {
    guard let peer = try UnixSocket.accept(listener) else {
        throw SystemCallError("accepting a connection", "", .wouldBlock)
    }
    try peer.setNonBlocking(false)
    return peer
}

/// Sends to a peer that may have gone: no signal ends the tests.
package func reply(to peer: borrowing Descriptor, _ text: String) { reply(to: peer, Array(text.utf8)) }

/// Sends to a peer that may have gone: no signal ends the tests.
package func reply(to peer: borrowing Descriptor, _ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, let sent = try? UnixSocket.send(peer.number, Array(rest)) { rest = rest.dropFirst(sent) }
}
