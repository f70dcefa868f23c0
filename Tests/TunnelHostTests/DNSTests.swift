// Leading the host's resolver through the tunnel, with a pretended one; the real one is in `namespaces/tests/test_resolved.py`.

import Addressing
import Linux
import Logging
import NamespaceSupport
import Netlink
import NetworkPlan
import Testing

@testable import TunnelHost

/// A resolver that keeps what it is told.
private final class PretendedBackend: DNSBackend {
    let directory: String
    var isHere = true
    var refusal: DNSError?
    var told: [InterfaceIndex: [IPAddress]] = [:]
    var calls: [String] = []
    /// On its own clock: how long it takes to be told.
    var milliseconds = 0
    var time = Moment(nanoseconds: 0)

    /// What it is told by others shows in this directory.
    init(in directory: String = "/nonexistent") { self.directory = directory }

    func isPresent() throws(DNSError) -> Bool { isHere }
    func secure(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) {
        calls.append("secure")
        time = time.adding(milliseconds: milliseconds)
        if let refusal { throw refusal }
        told[link] = servers
    }
    func isSecured(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) -> Bool { told[link] == servers }
    func revert(_ link: InterfaceIndex) throws(DNSError) {
        calls.append("revert")
        told[link] = nil
    }
}

/// A tunnel that is up on a host with this resolver, whose clock is the resolver's.
private func raised(_ fixture: Fixture, _ backend: PretendedBackend) throws -> HostNetwork {
    let host = try fixture.host(resolver: backend)
    host.clock = { backend.time }
    try host.raise(try fixture.request(host), sandbox: try makeNamespace())
    return host
}

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct DNSTests {
    @Test func aResolverIsToldRemindedAndReleased() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let backend = PretendedBackend()
            let host = try fixture.host(resolver: backend)
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

    @Test func aLinkMadeAnewIsWiredThoughTheResolverCouldNotBeTold() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try raised(fixture, PretendedBackend())
            try host.protectDNS()
            let loop = try EventLoop()
            var last: NetworkReport?
            try host.watch(on: loop) { last = $0 }
            func answer(_ command: String, until isThere: (NetworkReport) -> Bool) throws -> NetworkReport? {
                last = nil
                shell(command)
                try loop.run { last.map(isThere) == true }
                return last
            }
            // The ledger cannot be written when the link is there again.
            let ledger = "\(fixture.path)/ledger.json"
            let failed = try answer("rm \(ledger); mkdir \(ledger); ip link del trocket0") { _ in true }
            #expect(failed?.failure is SystemCallError && failed?.repair.needsWiring == false)
            let repaired = try answer("rmdir \(ledger)") { $0.failure == nil }
            #expect(repaired?.repair.needsWiring == true)
            #expect(try !host.repair().needsWiring, "it is told once")
            // Also when nothing else is left to be told.
            host.owesWiring = true
            let told = try answer("ip route add blackhole 192.0.2.0/24") { _ in true }
            #expect(told?.repair == Repair(needsWiring: true))
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }

    @Test func aResolverThatComesOrRelentsLaterIsTold() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let backend = PretendedBackend()
            let host = try raised(fixture, backend)
            backend.isHere = false
            #expect(try host.protectDNS() == .captured && host.checkDNS() == .captured && backend.calls == [])
            backend.isHere = true
            backend.refusal = DNSError(operation: "setting", text: "Access denied")
            #expect(try host.checkDNS() == .refused(reason: "Access denied"))
            #expect(try host.checkDNS() == .refused(reason: "Access denied"))
            #expect(fixture.sink.lines.filter { $0.contains("Access denied") }.count == 1)
            backend.refusal = nil
            // It was quick to refuse, and so is asked again at once.
            #expect(try host.checkDNS() == .resolved)
            backend.isHere = false
            backend.told = [:]
            #expect(try host.checkDNS() == .captured)
            try host.lower()
            fixture.remove()
        }
    }

    @Test func aResolverThatDoesNotAnswerHasATenthOfTheTime() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let backend = PretendedBackend()
            let host = try raised(fixture, backend)
            backend.refusal = DNSError(operation: "setting", text: "Connection timed out")
            backend.milliseconds = 1000
            #expect(try host.checkDNS() == .refused(reason: "Connection timed out"))
            backend.time = backend.time.adding(milliseconds: 9_999)
            #expect(try host.checkDNS() == .refused(reason: "Connection timed out"))
            #expect(backend.calls == ["secure"])
            backend.time = backend.time.adding(milliseconds: 1)
            backend.refusal = nil
            #expect(try host.checkDNS() == .resolved)
            try host.lower()
            fixture.remove()
        }
    }

    @Test func whatOthersTellAResolverIsHeardOf() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("mkdir \(fixture.path)/resolve")
            let backend = PretendedBackend(in: "\(fixture.path)/resolve")
            let host = try fixture.host(resolver: backend)
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            #expect(try host.protectDNS() == .resolved)
            let loop = try EventLoop()
            var news: [Bool] = []
            try host.watch(on: loop) { news.append($0.dnsChanged) }
            backend.told = [:]
            shell("cd \(fixture.path)/resolve; echo nameserver 203.0.113.1 >new; mv new resolv.conf")
            try loop.run { !backend.told.isEmpty }
            #expect(host.dnsProtection == .resolved && backend.told.values.first?.count == 2)
            // It is led as before, so nobody has to be told.
            #expect(news.isEmpty)
            backend.told = [:]
            backend.refusal = DNSError(operation: "setting", text: "Access denied")
            shell("cd \(fixture.path)/resolve; echo nameserver 203.0.113.1 >new; mv new resolv.conf")
            try loop.run { !news.isEmpty }
            #expect(news == [true] && host.dnsProtection == .refused(reason: "Access denied"))
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }

    @Test func withoutAResolverTheRuleIsEnough() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host(resolver: ResolvedBackend(bus: "unix:path=\(fixture.path)/none"))
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
            #expect(throws: DNSError.self) { try backend.isPresent() }
            #expect(throws: DNSError.self) { try backend.revert(InterfaceIndex(rawValue: 1)) }
            // sd-bus alone would wait for 90 seconds.
            #expect(Moment.now.milliseconds(since: start) < 20_000)
            silent.close()
            fixture.remove()
        }
    }
}
