// Connections that can only hang: through a tunnel that is going, from an address that has gone, or of another day.

internal import Addressing
internal import Logging
internal import Netlink
internal import NetworkPlan

extension HostNetwork {
    /// Connections of this host's programs through the tunnel that is up: those that speak from its address.
    func connectionsThroughTunnel() throws -> [TCPConnection] {
        guard let request, installed.link != nil else { return [] }
        let own = [request.addresses.ipv4, request.addresses.ipv6]
        return try ConnectionSocket().connections().filter { connection in
            !connection.isListening && own.contains { $0.contains(connection.local) }
        }
    }

    /// The engine's connections with others, not those with this host's programs.
    func engineConnections() throws -> [TCPConnection] {
        guard let request else { return [] }
        return try ConnectionSocket().connections().filter { connection in
            !connection.isListening && connection.user == request.engine
                && !Self.loopback.contains { $0.contains(connection.remote) }
        }
    }

    /// The engine's connections whose own address the host no longer has.
    func deadEngineConnections() throws -> [TCPConnection] {
        let present = try currentAddresses()
        return try engineConnections().filter { !present.contains($0.local) }
    }

    /// The addresses of the host.
    func currentAddresses() throws -> Set<IPAddress> { Set(try socket.addresses().map(\.address)) }

    /// Resets connections, so that their programs learn at once and open new ones. A kernel that cannot is no failure: they
    /// time out then.
    func reset(_ which: String, _ find: () throws -> [TCPConnection]) {
        do {
            let connections = try find()
            guard !connections.isEmpty else { return }
            let socket = try ConnectionSocket()
            for connection in connections { try socket.reset(connection) }
            log(.notice, "reset connections " + which, ["count": "\(connections.count)"])
        } catch {
            log(.warning, "cannot reset connections " + which, ["error": "\(error)"])
        }
    }

    private static let loopback = [Prefix("127.0.0.0/8"), Prefix("::1")].compactMap { $0 }
}
