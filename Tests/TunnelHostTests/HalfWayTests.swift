// What fails half-way: what holds the traffic in stays, and what is wanted is tried again.

import Addressing
import Linux
import NamespaceSupport
import NetworkPlan
import Testing

@testable import TunnelHost

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct HalfWayTests {
    @Test func networksThatCouldNotBeFollowedAreFollowedLater() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let loop = try EventLoop()
            try host.raise(try fixture.request(host, killSwitch: true), sandbox: try makeNamespace())
            var reports: [NetworkReport] = []
            try host.watch(on: loop) { reports.append($0) }
            func guardHas(_ network: String) -> Bool {
                shell("nft list set inet trocket_guard onlink4").contains(network)
            }
            fixture.blockLedger()
            shell("ip addr add 198.51.100.7/24 dev eth0")
            try loop.run { reports.contains { $0.failure != nil } }
            #expect(reports.contains { $0.failure != nil } && !guardHas("198.51.100.0/24"))
            fixture.freeLedger()
            try loop.run { guardHas("198.51.100.0/24") }
            #expect(guardHas("198.51.100.0/24"))
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }

    @Test func aLinkThatFailsHalfWayLeavesNothing() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let request = try fixture.request(host)
            var plan = try #require(HostPlanBuilder.plan(request).link)
            let whole = plan
            // The kernel takes no such address.
            let group = try #require(Prefix("ff02::9/128")).address
            plan.addresses.append(try #require(InterfaceAddress(group, length: 64)))
            host.sandbox = HeldDescriptor(try makeNamespace())
            #expect(throws: (any Error).self) { try host.perform(.addLink(plan)) }
            #expect(shell("ip -o link show trocket0").contains("does not exist"))
            // One that is this worker's own, and that it knows nothing of, is no other worker's.
            try host.perform(.addLink(whole))
            try host.perform(.addLink(whole))
            #expect(shell("ip -o addr show dev trocket0").contains("inet "))
            try host.perform(.removeLink(whole.name))
            fixture.remove()
        }
    }

    @Test func aMoveToAnotherSandboxThatFailsKeepsTheOneThatHoldsTheTrafficIn() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let first = try makeNamespace()
            let identity = try FileStatus(of: first.number, subject: "namespace").inode
            func isHeld() -> Bool { shell("ls -l /proc/$PPID/fd").contains("net:[\(identity)]") }
            try host.raise(try fixture.request(host), sandbox: first)
            fixture.blockLedger()
            let other = try fixture.request(host, killSwitch: true)
            for _ in 1...2 {
                #expect(throws: (any Error).self) { try host.raise(other, sandbox: try makeNamespace()) }
                #expect(isHeld() && shell("ip route get 8.8.8.8").contains("dev trocket0"))
            }
            fixture.freeLedger()
            try host.raise(other, sandbox: try makeNamespace())
            #expect(!isHeld())
            try host.lower()
            fixture.remove()
        }
    }

    /// The link is gone and could not be made anew; nothing but rules and the routes behind it keeps traffic in where nft is
    /// missing.
    @Test func whileThereIsNoLinkAChangeTakesNothingElseAway() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let request = try fixture.request(host)
            try host.raise(request, sandbox: try makeNamespace())
            let rules = shell("ip rule; ip -6 rule")
            try host.perform(.removeLink(Reserved.link))
            host.installed.record(.removeLink(Reserved.link))
            var other = request
            other.onLink = [try #require(Prefix("198.51.100.0/24"))]
            try host.update(other)
            #expect(shell("ip rule; ip -6 rule") == rules)
            try host.lower()
            fixture.remove()
        }
    }
}

extension Fixture {
    /// From now on the ledger cannot be written.
    fileprivate func blockLedger() { shell("mv \(path)/ledger.json \(path)/kept; mkdir -p \(path)/ledger.json/x") }
    /// And now it can.
    fileprivate func freeLedger() { shell("rm -r \(path)/ledger.json; mv \(path)/kept \(path)/ledger.json") }
}
