// Wiring a sandbox, and the whole path of a packet from the host into it.

import Addressing
import Firewall
import Linux
import Logging
import NamespaceSupport
import NetworkPlan
import Testing

@testable import TunnelHost

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct SandboxNetworkTests {
    @Test func wiresWhenItsLinksAreThere() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let sandbox = try makeNamespace()
            let inner = try inside(sandbox) { try SandboxNetwork(log: Log("test", sink: fixture.sink)) }
            let plan = SandboxPlan(addresses: .preferred, hasNft: true)
            func wire() throws -> Wiring { try inside(sandbox) { try inner.wire(plan) } }
            #expect(try inside(sandbox) { inner.checkFirewall() } == .available)
            #expect(try wire() == .waiting(["uplink0", "tun0"]))
            // What needs no links is there before them.
            #expect(try inside(sandbox) { shell("nft list tables") } == "table inet trocket\n")
            try host.raise(try fixture.request(host), sandbox: try sandbox.duplicate())
            #expect(try wire() == .waiting(["tun0"]))
            // A bridge stands in for the engine's TUN: only its name matters here.
            try inside(sandbox) { _ = shell("ip link add tun0 type bridge") }
            #expect(try wire() == .wired)
            #expect(try wire() == .wired)
            let shown = try inside(sandbox) { lines("ip rule; ip -6 rule") }
            for rule in plan.rules { #expect(shown.contains(rule.description), "\(rule)") }
            let parameters = try inside(sandbox) {
                lines(
                    "sysctl net.ipv6.ip_nonlocal_bind net.ipv4.ip_forward net.ipv6.conf.all.forwarding "
                        + "net.ipv4.ip_unprivileged_port_start")
            }
            #expect(parameters == plan.parameters.map(\.description))
            // The host's own parameters are its own.
            #expect(
                lines("sysctl net.ipv4.ip_unprivileged_port_start") == ["net.ipv4.ip_unprivileged_port_start = 1024"])
            #expect(try inner.snapshot(plan).contains("route -6 local default dev lo table 100"))
            // The host reaches the sandbox, but not over TCP or UDP to its own addresses. What is sent before the kernel has
            // taken note of the link's carrier, on its own thread, is lost.
            if hasPing { waitUntil("the sandbox answers", "ping -c1 -W1 198.19.77.2") }
            try host.lower()
            fixture.remove()
        }
    }

    @Test func withoutNftTheTunCarriesAll() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let sandbox = try makeNamespace()
            let request = try host.survey().request(
                engine: UserID(rawValue: 61002), killSwitch: false, sandboxHasNft: false)
            #expect(request.mtu == 65535)
            try host.raise(request, sandbox: try sandbox.duplicate())
            try inside(sandbox) {
                shell("ip link add tun0 type bridge")
                let inner = try SandboxNetwork(log: Log("test", sink: fixture.sink))
                #expect(try inner.wire(SandboxPlan(addresses: .preferred, hasNft: false)) == .wired)
                #expect(shell("nft list ruleset") == "")
                #expect(shell("ip route get 8.8.8.8 from 198.19.77.1 iif uplink0").contains("dev tun0"))
            }
            #expect(shell("ip -o link show trocket0").contains("mtu 65535"))
            try host.lower()
            fixture.remove()
        }
    }
}

private let hasPing = !shell("command -v ping").isEmpty
