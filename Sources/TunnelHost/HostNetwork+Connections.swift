// Connections that can only hang: through a tunnel that is going, from an address that has gone, or of another day.

internal import Addressing
internal import Linux
internal import Logging
internal import Netlink
internal import NetworkPlan

extension HostNetwork {
    /// Connections of this host's programs through the tunnel that is up: those that speak from its address.
    func connectionsThroughTunnel() throws -> [HostConnection] {
        guard let request else { return [] }
        let own = [request.addresses.ipv4, request.addresses.ipv6]
        return try ConnectionSocket().connections().filter { connection in
            !connection.isListening && own.contains { $0.contains(connection.local) }
        }
    }

    /// The engine's connections with others, not those with this host's programs.
    func engineConnections() throws -> [HostConnection] {
        guard let request else { return [] }
        return try ConnectionSocket().connections().filter { connection in
            !connection.isListening && connection.user == request.engine
                && !Self.loopback.contains { $0.contains(connection.remote) }
        }
    }

    /// The engine's connections whose own address the host no longer has.
    func deadEngineConnections() throws -> [HostConnection] {
        let present = try currentAddresses()
        return try engineConnections().filter { !present.contains($0.local) }
    }

    /// Resets what this host's programs opened to the outside while there was no guard.
    /// - Returns: false where it cannot be told what there is, or nothing of it be reset.
    func resetConnectionsFromBefore(_ table: GuardTable) -> Bool {
        [TransportProtocol.tcp, .udp].allSatisfy { transport in
            reset("from before the tunnel", transport) { try connectionsFromBefore(table, transport) }
        }
    }

    /// The ports from which programs open connections, unless they choose one (ip_local_port_range, ip(7)).
    func ephemeralPorts() throws(SystemCallError) -> ClosedRange<Port> {
        let bounds =
            try KernelFile.read("/proc/sys/net/ipv4/ip_local_port_range")?.split(separator: "\t")
            .compactMap { UInt16($0) } ?? []
        guard bounds.count == 2, bounds[0] <= bounds[1] else { return Port(rawValue: 32_768)...Port(rawValue: 60_999) }
        return Port(rawValue: bounds[0])...Port(rawValue: bounds[1])
    }

    /// Connections this host's programs opened to the outside while there was no guard. Where nothing had the kernel track
    /// connections until then, it begins with the guard, in the middle: one on which the other side speaks first would count
    /// as come in from outside, and go on around the tunnel. Those that did come in are told by the socket that waits for
    /// others in their place; where it has gone (a server that was stopped), by ports: whoever opens a connection mostly
    /// does so from an ephemeral one.
    func connectionsFromBefore(_ table: GuardTable, _ transport: TransportProtocol) throws -> [HostConnection] {
        let ephemeral = try ephemeralPorts()
        let ours = request.map { [$0.addresses.ipv4, $0.addresses.ipv6] } ?? []
        let local = Self.loopback + Reserved.privateIPv4 + Reserved.broadcastIPv4 + Reserved.privateIPv6 + table.onLink
        let own = try currentAddresses()
        func leads(outside address: IPAddress) -> Bool {
            !own.contains(address) && !local.contains { $0.contains(address) }
        }
        let all = try ConnectionSocket().connections(transport)
        let waiting = Dictionary(grouping: all.filter(\.isListening), by: \.localPort)
        func cameIn(_ connection: HostConnection) -> Bool {
            waiting[connection.localPort, default: []].contains { $0.canHaveTaken(connection) }
                || !ephemeral.contains(connection.localPort) && ephemeral.contains(connection.remotePort)
        }
        return all.filter { connection in
            !connection.isListening && connection.user != table.engine && leads(outside: connection.remote)
                && !cameIn(connection) && !ours.contains { $0.contains(connection.local) }
        }
    }

    /// The addresses of the host.
    func currentAddresses() throws -> Set<IPAddress> { Set(try socket.addresses().map(\.address)) }

    /// Resets connections, so that their programs learn at once and open new ones. A kernel that cannot is no failure: they
    /// time out then. Nor is one that refuses it for some, such as those that only wait for the other side's goodbye.
    /// - Returns: false where it cannot be told what there is, or nothing of it be reset.
    @discardableResult
    func reset(
        _ which: String, _ transport: TransportProtocol = .tcp, find: () throws -> [HostConnection]
    ) -> Bool {
        do {
            let connections = try find()
            guard !connections.isEmpty else { return true }
            let socket = try ConnectionSocket()
            var problem: NetlinkError?
            var count = 0
            for connection in connections {
                do throws(NetlinkError) {
                    try socket.reset(connection)
                    count += 1
                } catch { problem = problem ?? error }
            }
            if count > 0 { log(.notice, "reset connections " + which, ["count": "\(count)"]) }
            if let problem {
                log(.warning, "cannot reset connections " + which, ["error": "\(problem)"])
                return count > 0 || socket.canReset(transport)
            }
            return true
        } catch {
            log(.warning, "cannot reset connections " + which, ["error": "\(error)"])
            return false
        }
    }

    private static let loopback = [Prefix("127.0.0.0/8"), Prefix("::1")].compactMap { $0 }
}
