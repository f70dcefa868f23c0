// The worker's privilege is enough: another user with exactly CAP_NET_ADMIN and no way to more.

import Addressing
import Linux
import Logging
import NamespaceSupport
import NetworkPlan
import Privileges
import Testing

@testable import TunnelHost

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct PrivilegeTests {
    @Test func netAdminAloneIsEnough() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("chown 61001:61001 \(fixture.path); sysctl -qw net.ipv6.conf.default.disable_ipv6=1")
            let first = try makeNamespace()
            let second = try makeNamespace()
            try Privileges.drop(to: 61001, group: 61001, keeping: [.netAdmin])
            let host = try fixture.host(owner: 61001)
            let loop = try EventLoop()
            var request = try fixture.request(host, killSwitch: true)
            #expect(request.guardLifetime == .persistent)
            try host.raise(request, sandbox: first)
            try host.raise(request, sandbox: second)
            try host.watch(on: loop) { _ in }
            #expect(try host.verify() == [])
            #expect(shell("ip route get 8.8.8.8").contains("dev trocket0"))
            #expect(shell("ip -6 route get 2606:4700::1").contains("dev trocket0"))
            request.domestic = [Prefix("1.0.1.0/24")!]
            request.guardLifetime = .worker
            try host.update(request)
            #expect(try host.snapshot().contains { $0.contains("flags owner") })
            host.stopWatching()
            try host.lower()
            #expect(!shell("ip rule; ip -6 rule").contains("\n7"))
            fixture.remove()
        }
    }

    @Test func withoutItTheErrorSaysSo() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("chown 61001:61001 \(fixture.path)")
            let sandbox = try makeNamespace()
            try Privileges.drop(to: 61001, group: 61001, keeping: [])
            let error = #expect(throws: (any Error).self) {
                let host = try fixture.host(owner: 61001)
                try host.raise(try fixture.request(host), sandbox: try sandbox.duplicate())
            }
            #expect("\(error!)".contains("CAP_NET_ADMIN"))
            fixture.remove()
        }
    }
}
