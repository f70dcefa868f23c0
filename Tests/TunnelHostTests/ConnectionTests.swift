// Connections around the tunnel and dead ones: found, told apart, reset.

import Addressing
import Glibc
import Linux
import NamespaceSupport
import Netlink
import NetworkPlan
import Testing

@testable import TunnelHost

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct ConnectionTests {
    @Test func onlyWhatGoesAroundTheTunnelIsReset() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("ip addr add 192.0.2.1/32 dev lo; ip addr add 192.0.2.2/32 dev lo")
            let host = try fixture.host()
            let before = try Sockets(port: 5000)
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            let found = try host.connectionsAroundTunnel()
            // Of the two ends of the connection only the one that was opened outwards counts.
            #expect(found.map(\.remotePort.rawValue) == [5000])
            #expect(try host.deadEngineConnections() == [])
            #expect(try host.reset(found) == 1)
            #expect(try host.reset(found) == 0)
            #expect(before.clientIsDead)
            #expect(try host.connectionsAroundTunnel() == [])
            try host.lower()
            fixture.remove()
        }
    }
}

/// A connection from 192.0.2.1 to a server on 192.0.2.2, both on this host.
private final class Sockets {
    private let listener: Int32
    private let client: Int32
    private let served: Int32

    init(port: UInt16) throws {
        func address(_ last: UInt8, _ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = (0xc000_0200 + UInt32(last)).bigEndian
            return address
        }
        func with(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let (listener, client) = (listener, client)
        _ = try checkErrno("binding") { with(address(2, port)) { bind(listener, $0, $1) } }
        _ = try checkErrno("listening") { listen(listener, 1) }
        _ = try checkErrno("binding") { with(address(1, 0)) { bind(client, $0, $1) } }
        _ = try checkErrno("connecting") { with(address(2, port)) { connect(client, $0, $1) } }
        served = accept(listener, nil, nil)
    }

    /// True when the client's next read says that it was aborted.
    var clientIsDead: Bool {
        var byte: UInt8 = 0
        return recv(client, &byte, 1, Int32(MSG_DONTWAIT)) < 0 && errno == ECONNABORTED
    }

    deinit { for descriptor in [listener, client, served] { close(descriptor) } }
}
