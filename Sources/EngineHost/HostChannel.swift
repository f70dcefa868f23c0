// One end of the socket pair between worker and engine host.

package import JSON
package import Linux

/// A non-blocking SOCK_SEQPACKET socket that carries one JSON object a packet, with a descriptor where one belongs to it.
package final class HostChannel {
    private let socket: Descriptor
    /// A packet's limit in bytes; a longer one was not sent by us.
    private static let limit = 256 * 1024

    /// Takes over one end of a `SocketPair`.
    package init(_ socket: consuming Descriptor) throws(SystemCallError) {
        try socket.setNonBlocking(true)
        self.socket = socket
    }

    /// Becomes readable when a message waits or the other end is gone.
    package var descriptor: Int32 { socket.number }

    /// Sends one message; false when the other end is gone or does not read.
    @discardableResult
    package func send(_ message: JSON, descriptor: Int32? = nil) -> Bool {
        let sent = try? UnixSocket.send(socket.number, message.encoded(), descriptors: descriptor.map { [$0] } ?? [])
        return sent != nil
    }

    /// What came.
    package enum Arrival {
        /// A message, and the descriptors that came along; they are the receiver's.
        case message(JSON, [Int32])
        case nothing
        /// The other end is gone, or talks nonsense.
        case gone
    }

    /// Takes the next message.
    package func receive() -> Arrival {
        let received: ReceivedMessage
        do throws(SystemCallError) {
            guard let next = try UnixSocket.receive(socket.number, capacity: Self.limit) else { return .nothing }
            received = next
        } catch { return .gone }
        guard !received.bytes.isEmpty, let message = try? JSON.parse(received.bytes) else {
            received.descriptors.forEach { Descriptor(owning: $0).close() }
            return .gone
        }
        return .message(message, received.descriptors)
    }
}
