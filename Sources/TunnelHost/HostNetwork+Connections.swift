// Connections that go around the tunnel because they were opened before it, or that died with an uplink.

internal import Addressing
package import Netlink
internal import NetworkPlan

extension HostNetwork {
    /// Connections of this host's programs that were opened before the tunnel and still go around it: not the engine's, not
    /// local or on-link ones, not those that came in from outside.
    /// - Throws: `NetlinkError`.
    package func connectionsAroundTunnel() throws -> [TCPConnection] {
        guard let request else { return [] }
        let all = try ConnectionSocket().connections()
        let served = Set(all.filter(\.isListening).map(\.localPort))
        let near = Reserved.privateIPv4 + Reserved.privateIPv6 + request.onLink + request.domestic + Self.loopback
        let own = [request.addresses.ipv4, request.addresses.ipv6]
        return all.filter { connection in
            !connection.isListening && connection.user != request.engine && !served.contains(connection.localPort)
                && !own.contains { $0.contains(connection.local) } && !near.contains { $0.contains(connection.remote) }
        }
    }

    /// The engine's connections whose own address the host no longer has: they can only time out.
    /// - Throws: `NetlinkError`.
    package func deadEngineConnections() throws -> [TCPConnection] {
        guard let request else { return [] }
        let present = Set(try socket.addresses().map(\.address))
        return try ConnectionSocket().connections().filter {
            !$0.isListening && $0.user == request.engine && !present.contains($0.local)
        }
    }

    /// Resets connections, so that their programs learn at once and open new ones.
    /// - Returns: how many were reset.
    /// - Throws: `NetlinkError`; `notSupported` on a kernel that cannot.
    @discardableResult
    package func reset(_ connections: [TCPConnection]) throws -> Int {
        let socket = try ConnectionSocket()
        return try connections.filter { connection throws(NetlinkError) in try socket.reset(connection) == .removed }
            .count
    }

    private static let loopback = [Prefix("127.0.0.0/8"), Prefix("::1")].compactMap { $0 }
}
