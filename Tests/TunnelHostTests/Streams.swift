// Sockets of IPv4 between addresses of the test's own, each end in the test's hands.

import Glibc
import Linux

private func tcpSocket() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }

private func with(_ text: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, text, &address.sin_addr)
    return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// A socket that waits for connections.
final class Listener {
    let address: String
    let port: UInt16
    fileprivate let descriptor = tcpSocket()

    init(_ address: String, _ port: UInt16) throws {
        (self.address, self.port) = (address, port)
        let descriptor = descriptor
        _ = try checkErrno("binding") { with(address, port) { bind(descriptor, $0, $1) } }
        _ = try checkErrno("listening") { listen(descriptor, 1) }
    }

    deinit { close(descriptor) }
}

/// A connection, with both of its ends.
final class Stream {
    private var client: Int32
    private let server: Int32

    /// - Parameters:
    ///   - at: the listener's address, where it waits on all.
    ///   - user: whose the end is that opens it.
    init(
        from source: String, _ port: UInt16, to listener: Listener, at address: String? = nil, user: UInt32 = 0
    ) throws {
        _ = seteuid(user)
        client = tcpSocket()
        _ = seteuid(0)
        let client = client
        _ = try checkErrno("binding") { with(source, port) { bind(client, $0, $1) } }
        _ = try checkErrno("connecting") {
            with(address ?? listener.address, listener.port) { connect(client, $0, $1) }
        }
        server = accept(listener.descriptor, nil, nil)
    }

    /// The port of the end that opened it.
    var clientPort: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(client, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func failure(of descriptor: Int32) -> Int32? {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) < 0 ? errno : nil
    }

    /// True when the next read of the end that opened it says that it was aborted.
    var clientIsDead: Bool { Self.failure(of: client) == ECONNABORTED }
    /// The same of the other end.
    var serverIsDead: Bool { Self.failure(of: server) == ECONNABORTED }

    /// Writes to the server, which does not read, until nothing more goes in; returns the bytes.
    func fill() -> Int {
        let bytes = [UInt8](repeating: 1, count: 65_536)
        var sum = 0
        while case let count = send(client, bytes, bytes.count, Int32(MSG_DONTWAIT)), count > 0 { sum += count }
        return sum
    }

    /// Whether what one end writes gets to the other within so many milliseconds.
    func passes(_ text: String, byServer: Bool, within milliseconds: Int = 30_000) -> Bool {
        let (writer, reader) = byServer ? (server, client) : (client, server)
        var bytes = Array(text.utf8)
        guard send(writer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count,
            !wait(for: [(reader, .readable)], milliseconds: milliseconds)[0].isEmpty
        else { return false }
        return recv(reader, &bytes, bytes.count, 0) > 0 && bytes == Array(text.utf8)
    }

    /// Closes the end that opened it.
    func closeClient() {
        close(client)
        client = -1
    }

    /// Tells the client that the server will write no more.
    func hangUpServer() { shutdown(server, Int32(SHUT_WR)) }

    /// Reads to the end or to an error; returns the bytes.
    func serverReadsAll() -> Int {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var sum = 0
        while case let count = recv(server, &bytes, bytes.count, 0), count > 0 { sum += count }
        return sum
    }

    deinit { for descriptor in [client, server] where descriptor >= 0 { close(descriptor) } }
}
