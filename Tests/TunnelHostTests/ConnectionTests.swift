// Connections that can only hang: found, told apart, reset.

import Addressing
import Firewall
import Linux
import Logging
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

    @Test func oneThatIsOpenedWhileTheTunnelIsLoweredIsResetToo() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("ip addr add 192.0.2.1/32 dev lo; ip addr add 192.0.2.2/32 dev lo")
            let backend = Meanwhile()
            let host = try HostNetwork(
                ledgerIn: try Directory(fixture.path), owner: 0, log: Log("test", sink: fixture.sink),
                dnsBackend: backend)
            let request = try fixture.request(host)
            try host.raise(request, sandbox: try makeNamespace())
            #expect(try host.protectDNS() == .resolved)
            backend.happens = { try? Connection(from: request.addresses.host(.ipv4).address.description, port: 5000) }
            try host.lower()
            #expect(try #require(backend.opened).clientIsDead)
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
            try loop.run {
                isReset = moved.clientIsDead
                return isReset
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
            let (fixture, host, engine, others) = try connected()
            let loop = try EventLoop()
            var reports = 0
            try host.watch(on: loop) { if $0.uplinkChanged { reports += 1 } }
            func change(_ command: String) throws {
                let count = reports
                shell(command)
                try loop.run { reports != count }
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

    /// The way out is still there after a suspend; the next news of any kind, the end of the suspend itself, finds it.
    @Test(arguments: [(28_800_000, true), (3_000, false)])
    func afterASuspendTheEngineBeginsAnew(asleep: Int, isReset: Bool) async {
        await #expect(processExitsWith: .success) { [asleep = asleep as Int, isReset = isReset as Bool] in
            let (fixture, host, engine, others) = try connected()
            let loop = try EventLoop()
            var (reports, sleeps) = (0, 0)
            try host.watch(on: loop) {
                reports += 1
                if $0.hasSlept { sleeps += 1 }
            }
            let before = host.asleep()
            host.asleep = { before + asleep }
            for command in ["ip route add default via 203.0.113.9 metric 9", "ip route del default metric 9"] {
                let count = reports
                shell(command)
                try loop.run { reports != count }
            }
            #expect(engine.clientIsDead == isReset && !others.clientIsDead && sleeps == (isReset ? 1 : 0))
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }

    /// What was opened here and what came in, on a machine that tracks no connections: told by who waits where, and by ports.
    @Test func thoseFromBeforeThatWereOpenedHereAreTold() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            // Abroad, and yet answered here.
            shell("ip route add local 192.0.2.0/24 dev lo; ip route add local 198.51.100.0/24 dev lo")
            let host = try fixture.host()
            let table = try #require(HostPlanBuilder.plan(try fixture.request(host)).guardTable)
            let (own, abroad) = ("203.0.113.2", "198.51.100.1")
            let (web, high, loopback) = (
                try Listener(abroad, 443), try Listener(abroad, 50_000), try Listener("127.0.0.1", 5001)
            )
            let (here, hereHigh, other) = (
                try Listener("0.0.0.0", 22), try Listener(own, 40_000), try Listener(own, 23)
            )
            var gone: Listener? = try Listener(own, 24)
            let opened = try [
                Stream(from: own, 0, to: web), Stream(from: own, 0, to: high), Stream(from: own, 5000, to: web),
                // Somebody waits on the port, but not for this.
                Stream(from: own, 5001, to: web),
            ]
            let cameIn = try [
                Stream(from: abroad, 0, to: here, at: own), Stream(from: abroad, 0, to: hereHigh),
                Stream(from: abroad, 1023, to: other), Stream(from: abroad, 0, to: try #require(gone)),
            ]
            gone = nil
            func found() throws -> Set<UInt16> {
                Set(try host.connectionsFromBefore(table, .tcp).map(\.localPort.rawValue))
            }
            #expect(try found() == Set(opened.map(\.clientPort)))
            #expect(host.resetConnectionsFromBefore(table))
            #expect(opened.allSatisfy(\.clientIsDead) && !cameIn.contains { $0.serverIsDead })
            #expect(try found() == [])
            withExtendedLifetime((loopback, web, high, here, hereHigh, other)) {}
            fixture.remove()
        }
    }

    /// Of two connections on which the other side speaks first under the guard, the one that was tracked from its first packet
    /// does not pass for come in from outside.
    @Test(arguments: [false, true])
    func oneThatIsOpenedWhileTheGuardComesIsRefusedByIt(isTracked: Bool) async {
        await #expect(processExitsWith: .success) { [isTracked = isTracked as Bool] in
            let fixture = Fixture()
            let host = try fixture.host()
            let nft = try #require(host.nft)
            let table = try #require(HostPlanBuilder.plan(try fixture.request(host)).guardTable)
            let listener = try inside(try abroad()) { try Listener("198.51.100.1", 443) }
            if isTracked { try host.trackConnections(nft) }
            let stream = try Stream(from: "192.0.2.1", 0, to: listener)
            try nft.replace(Reserved.guardTable, with: table.text)
            #expect(stream.passes("greeting", byServer: true))
            #expect(stream.passes("answer", byServer: false, within: isTracked ? 1_000 : 30_000) == !isTracked)
            fixture.remove()
        }
    }

    /// What a guard that was away for a while finds when it is back: its own tunnel's connections stay.
    @Test func whatWasOpenedWhileAGuardWasAwayIsReset() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            let listener = try inside(try abroad()) { try Listener("198.51.100.1", 443) }
            shell("ip addr add 198.51.100.2/32 dev lo")
            let tunnel = try #require(host.request?.addresses.host(.ipv4).address.description)
            let through = try Stream(from: tunnel, 0, to: try Listener("198.51.100.2", 443))
            try host.nft?.remove(Reserved.guardTable)
            let stream = try Stream(from: "192.0.2.1", 0, to: listener)
            _ = try host.repair()
            #expect(stream.clientIsDead && !through.clientIsDead)
            try host.lower()
            fixture.remove()
        }
    }

    /// Where they cannot be reset, or not be told, no reply leaves by a port that programs open connections from.
    @Test func whereNoneCanBeResetTheGuardIsStricter() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let request = try fixture.request(host, killSwitch: true)
            let bounds = shell("cat /proc/sys/net/ipv4/ip_local_port_range").split { $0.isWhitespace }
            func refuses() throws -> Bool {
                try #require(try host.nft?.listing(Reserved.guardTable, withElements: false)).contains(
                    "ct direction reply meta l4proto { tcp, udp } th sport \(bounds[0])-\(bounds[1]) reject")
            }
            try host.update(request)
            #expect(try !refuses())
            try host.lower()
            try denySockets()
            try host.update(request)
            #expect(try refuses())
            _ = try host.repair()
            var other = request
            other.onLink = [try #require(Prefix("198.51.100.0/24"))]
            try host.update(other)
            #expect(try refuses(), "as long as there is a guard")
            fixture.remove()
        }
    }

    /// A program has written and closed; the kernel still has what the other side has not made room for.
    @Test(arguments: [false, true])
    func whatAProgramHasClosedAndTheKernelStillSendsIsReset(otherSideFirst: Bool) async {
        await #expect(processExitsWith: .success) { [otherSideFirst = otherSideFirst as Bool] in
            let fixture = Fixture()
            shell("ip route add local 198.51.100.0/24 dev lo")
            let host = try fixture.host()
            let table = try #require(HostPlanBuilder.plan(try fixture.request(host)).guardTable)
            let web = try Listener("198.51.100.1", 443)
            let stream = try Stream(from: "203.0.113.2", 0, to: web)
            let sent = stream.fill()
            if otherSideFirst { stream.hangUpServer() }
            let port = stream.clientPort
            stream.closeClient()
            #expect(try host.connectionsFromBefore(table, .tcp).map(\.localPort.rawValue) == [port])
            #expect(host.resetConnectionsFromBefore(table))
            #expect(try host.connectionsFromBefore(table, .tcp) == [])
            #expect(stream.serverReadsAll() < sent)
            fixture.remove()
        }
    }
}

/// Another host, 198.51.100.1, by a wire of its own: to this one, 192.0.2.1, it is neither neighbour nor loopback.
private func abroad() throws -> Descriptor {
    let other = try makeNamespace()
    shell(
        """
        abroad() { nsenter --net=/proc/$PPID/fd/\(other.number) ip "$@"; }
        abroad link add wire type veth peer way netns $$; abroad link set wire up
        ip link set way up; ip addr add 192.0.2.1/24 dev way; ip route add 198.51.100.0/24 dev way
        abroad addr add 198.51.100.1/24 dev wire; abroad route add 192.0.2.0/24 dev wire
        """)
    return other
}

/// A host with a tunnel, a connection of its engine's and one of somebody else's.
private func connected() throws -> (fixture: Fixture, host: HostNetwork, engine: Connection, others: Connection) {
    let fixture = Fixture()
    shell("ip addr add 192.0.2.1/32 dev lo; ip addr add 192.0.2.2/32 dev lo")
    let host = try fixture.host()
    let request = try fixture.request(host)
    try host.raise(request, sandbox: try makeNamespace())
    return (
        fixture, host, try Connection(from: "192.0.2.1", port: 5000, user: request.engine.rawValue),
        try Connection(from: "192.0.2.1", port: 5001)
    )
}

/// A resolver; while it is told that the tunnel is going, a program opens a connection.
private final class Meanwhile: DNSBackend {
    let directory = "/nonexistent"
    var happens: () -> Connection? = { nil }
    var opened: Connection?

    func isPresent() throws(DNSError) -> Bool { true }
    func secure(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) {}
    func isSecured(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) -> Bool { true }
    func revert(_ link: InterfaceIndex) throws(DNSError) { opened = happens() }
}

/// A connection to a server on 192.0.2.2, both on this host.
private final class Connection {
    private let listener: Listener
    private let stream: Stream

    init(from source: String, port: UInt16, user: UInt32 = 0) throws {
        listener = try Listener("192.0.2.2", port)
        stream = try Stream(from: source, 0, to: listener, user: user)
    }

    var clientIsDead: Bool { stream.clientIsDead }
}
