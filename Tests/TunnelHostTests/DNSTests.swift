// Leading the host's resolver through the tunnel: with a pretended one, and with the real systemd-resolved.

import Addressing
import Linux
import Logging
import NamespaceSupport
import Netlink
import NetworkPlan
import Privileges
import Testing

@testable import TunnelHost

/// A resolver that keeps what it is told.
private final class PretendedBackend: DNSBackend {
    var isHere = true
    var refusal: DNSError?
    var told: [InterfaceIndex: [IPAddress]] = [:]
    var calls: [String] = []

    func isPresent() throws(DNSError) -> Bool { isHere }
    func secure(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) {
        calls.append("secure")
        if let refusal { throw refusal }
        told[link] = servers
    }
    func isSecured(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) -> Bool { told[link] == servers }
    func revert(_ link: InterfaceIndex) throws(DNSError) {
        calls.append("revert")
        told[link] = nil
    }
}

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct DNSTests {
    @Test func aResolverIsToldRemindedAndReleased() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let backend = PretendedBackend()
            let host = try HostNetwork(
                ledgerIn: try Directory(fixture.path), owner: 0, log: Log("test", sink: fixture.sink),
                dnsBackend: backend)
            #expect(try host.protectDNS() == .captured)
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            #expect(try host.protectDNS() == .resolved)
            #expect(backend.told.values.first?.map(\.description) == ["198.19.78.2", "fd74:726f:636b:6575::2"])
            #expect(shell("cat \(fixture.path)/ledger.json").contains("\"dns\": true"))
            // Another program rewrites it; asking for the state puts it back.
            backend.told = [:]
            #expect(try host.checkDNS() == .resolved)
            // A new link is a new link to the resolver.
            shell("ip link del trocket0")
            #expect(try host.repair().needsWiring)
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            #expect(backend.calls == ["secure", "secure", "secure", "secure"])
            backend.refusal = DNSError(operation: "setting", text: "Access denied")
            backend.told = [:]
            #expect(try host.checkDNS() == .refused(reason: "Access denied"))
            try host.lower()
            #expect(backend.calls.last == "revert" && host.dnsProtection == .captured)
            fixture.remove()
        }
    }

    @Test func withoutAResolverTheRuleIsEnough() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try HostNetwork(
                ledgerIn: try Directory(fixture.path), owner: 0, log: Log("test", sink: fixture.sink),
                dnsBackend: ResolvedBackend(bus: "unix:path=\(fixture.path)/none"))
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            #expect(try host.protectDNS() == .captured)
            try host.lower()
            fixture.remove()
        }
    }

    @Test func aSilentBusDoesNotHoldTheWorker() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let silent = try UnixSocket.listen("\(fixture.path)/bus", mode: 0o666)
            let backend = ResolvedBackend(bus: "unix:path=\(fixture.path)/bus", timeout: 100_000)
            let start = Moment.now
            #expect(try !backend.isPresent())
            #expect(throws: DNSError.self) { try backend.revert(InterfaceIndex(rawValue: 1)) }
            // sd-bus alone would wait for 90 seconds.
            #expect(Moment.now.milliseconds(since: start) < 20_000)
            silent.close()
            fixture.remove()
        }
    }

    @Test(.enabled(if: Resolved.isThere, "needs dbus-daemon and systemd-resolved (TROCKET_TEST_RESOLVED)"))
    func theRealResolvedKeepsWhatItIsTold() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("chmod 0755 \(fixture.path)")
            let resolved = try Resolved(in: fixture.path)
            let backend = ResolvedBackend(bus: resolved.address)
            for _ in 0..<300 where try !backend.isPresent() { shell("sleep 0.05") }
            let host = try HostNetwork(
                ledgerIn: try Directory(fixture.path), owner: 0, log: Log("test", sink: fixture.sink),
                dnsBackend: backend)
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            #expect(try host.protectDNS() == .resolved)
            let link = try #require(try host.socket.link(named: Reserved.link)).index
            let servers = AddressFamily.allCases.map(LinkAddresses.preferred.resolver)
            #expect(try backend.isSecured(link, servers: servers))
            #expect(try !backend.isSecured(link, servers: [servers[0]]))
            try backend.revert(link)
            #expect(try !backend.isSecured(link, servers: servers))
            #expect(try host.checkDNS() == .resolved)
            #expect(try backend.isSecured(link, servers: servers))
            try host.lower()
            // The link is gone, and with it what resolved knew of it.
            #expect(throws: DNSError.self) { _ = try backend.isSecured(link, servers: servers) }
            withExtendedLifetime(resolved) { fixture.remove() }
        }
    }

    @Test(.enabled(if: Resolved.isThere, "needs dbus-daemon and systemd-resolved (TROCKET_TEST_RESOLVED)"))
    func withoutThePolkitRuleItIsSaidPlainly() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("chown 61001 \(fixture.path); chmod 0755 \(fixture.path)")
            let resolved = try Resolved(in: fixture.path)
            let backend = ResolvedBackend(bus: resolved.address)
            for _ in 0..<300 where try !backend.isPresent() { shell("sleep 0.05") }
            let sandbox = try makeNamespace()
            try Privileges.drop(to: 61001, group: 61001, keeping: [.netAdmin])
            let host = try HostNetwork(
                ledgerIn: try Directory(fixture.path), owner: 61001, log: Log("test", sink: fixture.sink),
                dnsBackend: backend)
            try host.raise(try fixture.request(host), sandbox: sandbox)
            guard case .refused(let reason) = try host.protectDNS() else {
                Issue.record("resolved obeyed a user it does not know")
                return
            }
            #expect(!reason.isEmpty)
            try host.lower()
            withExtendedLifetime(resolved) { fixture.remove() }
        }
    }
}
