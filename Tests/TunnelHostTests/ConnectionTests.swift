// Connections that can only hang: found, told apart, reset.

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
    @Test func loweringResetsWhatWentThroughTheTunnel() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("ip addr add 192.0.2.1/32 dev lo; ip addr add 192.0.2.2/32 dev lo")
            let host = try fixture.host()
            let request = try fixture.request(host)
            try host.raise(request, sandbox: try makeNamespace())
            let through = try Connection(from: request.addresses.host(.ipv4).address.description, port: 5000)
            let around = try Connection(from: "192.0.2.1", port: 5001)
            // Of the two ends of a connection only the one that speaks into the tunnel counts.
            #expect(try host.connectionsThroughTunnel().map(\.remotePort.rawValue) == [5000])
            try host.lower()
            #expect(through.clientIsDead && !around.clientIsDead)
            #expect(try host.connectionsThroughTunnel() == [])
            fixture.remove()
        }
    }

    @Test func theEnginesConnectionsFromAnAddressThatHasGoneAreReset() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("ip addr add 192.0.2.1/32 dev lo; ip addr add 192.0.2.2/32 dev lo; ip addr add 192.0.2.3/32 dev lo")
            let host = try fixture.host()
            let request = try fixture.request(host)
            try host.raise(request, sandbox: try makeNamespace())
            let loop = try EventLoop()
            let others = try Connection(from: "192.0.2.3", port: 5001)
            let engine = try Connection(from: "192.0.2.1", port: 5002, user: request.engine.rawValue)
            let moved = try Connection(from: "192.0.2.3", port: 5003, user: request.engine.rawValue)
            try host.watch(on: loop) { _ in }
            shell("ip addr del 192.0.2.3/32 dev lo")
            var isReset = false
            let deadline = Moment.now.adding(milliseconds: 10_000)
            while !isReset, Moment.now < deadline {
                try loop.turn(timeout: 1_000)
                isReset = moved.clientIsDead
            }
            #expect(isReset)
            #expect(!engine.clientIsDead && !others.clientIsDead)
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }

    /// Eight hours of suspend, and three seconds of a cable that was pulled.
    @Test(arguments: [(28_800_000, true), (3_000, false)])
    func afterALongTimeWithoutAWayOutTheEngineBeginsAnew(away: Int, isReset: Bool) async {
        await #expect(processExitsWith: .success) { [away = away as Int, isReset = isReset as Bool] in
            let fixture = Fixture()
            shell("ip addr add 192.0.2.1/32 dev lo; ip addr add 192.0.2.2/32 dev lo")
            let host = try fixture.host()
            let request = try fixture.request(host)
            try host.raise(request, sandbox: try makeNamespace())
            let loop = try EventLoop()
            let engine = try Connection(from: "192.0.2.1", port: 5000, user: request.engine.rawValue)
            let others = try Connection(from: "192.0.2.1", port: 5001)
            var reports = 0
            try host.watch(on: loop) { if $0.uplinkChanged { reports += 1 } }
            func change(_ command: String) throws {
                let count = reports
                shell(command)
                let deadline = Moment.now.adding(milliseconds: 10_000)
                while reports == count, Moment.now < deadline { try loop.turn(timeout: 10_000) }
            }
            try change("ip route del default; ip -6 route del default")
            #expect(!engine.clientIsDead)
            let later = Moment.now.adding(milliseconds: away)
            host.clock = { later }
            try change("ip route add default via 203.0.113.1")
            #expect(engine.clientIsDead == isReset && !others.clientIsDead)
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }
}

/// A connection to a server on 192.0.2.2, both on this host.
private final class Connection {
    private let listener: Int32
    private let client: Int32
    private let served: Int32

    init(from source: String, port: UInt16, user: UInt32 = 0) throws {
        func with(_ text: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
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
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = seteuid(user)
        client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = seteuid(0)
        let (listener, client) = (listener, client)
        _ = try checkErrno("binding") { with("192.0.2.2", port) { bind(listener, $0, $1) } }
        _ = try checkErrno("listening") { listen(listener, 1) }
        _ = try checkErrno("binding") { with(source, 0) { bind(client, $0, $1) } }
        _ = try checkErrno("connecting") { with("192.0.2.2", port) { connect(client, $0, $1) } }
        served = accept(listener, nil, nil)
    }

    /// True when the client's next read says that it was aborted.
    var clientIsDead: Bool {
        var byte: UInt8 = 0
        return recv(client, &byte, 1, Int32(MSG_DONTWAIT)) < 0 && errno == ECONNABORTED
    }

    deinit { for descriptor in [listener, client, served] { close(descriptor) } }
}
