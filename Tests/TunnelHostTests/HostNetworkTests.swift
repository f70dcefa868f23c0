// Raising, changing, repairing and lowering the tunnel on a host, compared with what `ip` and `nft` show.

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
struct HostNetworkTests {
    @Test func afterwardsTheHostIsAsBefore() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let before = Fixture.state()
            let host = try fixture.host()
            let request = try fixture.request(host)
            #expect(Fixture.state() == before)
            try host.raise(request, sandbox: try makeNamespace())
            #expect(try host.verify() == [])
            let plan = HostPlanBuilder.plan(request)
            for family in AddressFamily.allCases {
                let shown = lines(family == .ipv4 ? "ip rule" : "ip -6 rule").filter { $0.hasPrefix("7") }
                #expect(shown.sorted() == plan.rules.filter { $0.family == family }.map(\.description).sorted())
            }
            #expect(request.onLink.map(\.description) == ["203.0.113.0/24", "2001:db8:1::/64"])
            #expect(normalizedRuleset(shell("nft list ruleset")) == normalizedRuleset(plan.guardTable?.text ?? ""))
            // A new connection, its bound replies, DNS to the LAN, the LAN itself, the engine.
            #expect(shell("ip route get 8.8.8.8").contains("dev trocket0 table 7100"))
            #expect(shell("ip route get 8.8.8.8 from 203.0.113.2").contains("dev eth0"))
            #expect(shell("ip route get 203.0.113.1 ipproto udp dport 53").contains("dev trocket0"))
            #expect(shell("ip route get 203.0.113.1").contains("dev eth0"))
            #expect(shell("ip route get 8.8.8.8 uid 61002").contains("dev eth0"))
            #expect(shell("ip -6 route get 2606:4700::1").contains("dev trocket0 table 7100"))
            #expect(shell("ip -6 route get 2606:4700::1 from 2001:db8:1::2").contains("dev eth0"))
            #expect(shell("ip -6 route get 2606:4700::1 uid 61002").contains("dev eth0"))
            #expect(try host.snapshot().contains("route default via 198.19.77.2 dev trocket0 table 7100"))
            try host.lower()
            #expect(Fixture.state() == before)
            #expect(try Directory(fixture.path).names() == [])
            fixture.remove()
        }
    }

    @Test func hostileWideRoutesDoNotLeadPastTheTunnel() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("ip route add 0.0.0.0/1 via 203.0.113.1; ip route add 128.0.0.0/1 via 203.0.113.1")
            shell("ip -6 route add 2000::/3 via 2001:db8:1::1; ip addr add 64.1.1.1/2 dev eth0")
            let host = try fixture.host()
            let survey = try host.survey()
            #expect(survey.onLink.refused.map(\.description) == ["64.0.0.0/2"])
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            for address in ["8.8.8.8", "100.0.0.1", "200.1.1.1"] {
                #expect(shell("ip route get \(address)").contains("dev trocket0"))
            }
            #expect(shell("ip -6 route get 2606:4700::1").contains("dev trocket0"))
            try host.lower()
            fixture.remove()
        }
    }

    /// An answer of a LAN resolver arrives by the tunnel, while the LAN itself is reached by the uplink.
    @Test func dnsAnswersPassTheReversePathFilterBecausePortsAreDissected() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.default.rp_filter=1")
            let host = try fixture.host()
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            let answer = "ip route get 198.19.77.1 from 203.0.113.1 iif trocket0 ipproto udp sport 53 dport 40000"
            #expect(shell(answer).contains("local 198.19.77.1"))
            shell("ip rule del prio 7105")
            #expect(shell(answer).hasPrefix("RTNETLINK answers"))
            #expect(try host.repair().drifts.count == 1)
            #expect(shell(answer).contains("local 198.19.77.1"))
            try host.lower()
            fixture.remove()
        }
    }

    @Test func withoutADefaultRouteTheEngineFailsInsteadOfLooping() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            shell("ip route del default; ip -6 route del default")
            #expect(shell("ip route get 8.8.8.8 uid 61002").contains("unreachable"))
            #expect(shell("ip -6 route get 2606:4700::1 uid 61002").contains("unreachable"))
            #expect(shell("ip route get 8.8.8.8").contains("dev trocket0"))
            try host.lower()
            fixture.remove()
        }
    }

    @Test func everythingOthersRemoveIsPutBack() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let sandbox = try makeNamespace()
            try host.raise(try fixture.request(host, killSwitch: true), sandbox: try sandbox.duplicate())
            let whole = lines("ip rule; ip -6 rule; ip route show table 7100; ip -6 route show table 7101")
            let attacks: [(String, (Drift) -> Bool)] = [
                ("ip rule del prio 7110", { if case .ruleMissing = $0 { true } else { false } }),
                (
                    "ip rule flush; ip rule add prio 32766 lookup main; ip rule add prio 32767 lookup default",
                    { if case .ruleMissing = $0 { true } else { false } }
                ),
                ("ip -6 rule del prio 7132", { if case .ruleMissing = $0 { true } else { false } }),
                ("ip route flush table 7100", { if case .routesMissing = $0 { true } else { false } }),
                ("ip -6 route flush table 7101", { if case .routesMissing = $0 { true } else { false } }),
                (
                    "ip route replace default dev eth0 table 7100",
                    { if case .routeForeign = $0 { true } else { false } }
                ),
                ("ip route add 1.1.1.0/24 dev eth0 table 7100", { if case .routeForeign = $0 { true } else { false } }),
                ("nft delete table inet trocket_guard", { $0 == .guardMissing }),
                ("nft flush ruleset", { $0 == .guardMissing }),
                ("nft insert rule inet trocket_guard out accept", { $0 == .guardChanged }),
                ("nft flush set inet trocket_guard onlink4", { $0 == .guardSetChanged("onlink4") }),
                ("ip link set trocket0 down", { $0 == .linkChanged(Reserved.link) }),
                ("ip link set trocket0 mtu 1400", { $0 == .linkChanged(Reserved.link) }),
                ("ip addr flush dev trocket0", { if case .addressMissing = $0 { true } else { false } }),
                (
                    "ip link add br0 type bridge; ip link set trocket0 master br0",
                    { $0 == .linkEnslaved(Reserved.link) }
                ),
            ]
            let guardText = try #require(
                HostPlanBuilder.plan(try fixture.request(host, killSwitch: true)).guardTable?.text)
            for (attack, expected) in attacks {
                if attack.hasPrefix("nft") {
                    // Nobody can touch the guard where the kernel lets it have an owner that it outlives (Linux 6.9).
                    shell(attack)
                    #expect(try host.verify() == [])
                    // As it is made where the kernel does not.
                    try host.nft?.replace(Reserved.guardTable, with: guardText)
                    #expect(try host.verify() == [])
                }
                shell(attack)
                let repair = try host.repair()
                #expect(repair.drifts.contains(where: expected), "\(attack): \(repair.drifts)")
                #expect(!repair.needsWiring)
                #expect(try host.verify() == [], "\(attack)")
                #expect(try host.repair().drifts == [])
            }
            #expect(
                lines("ip rule; ip -6 rule; ip route show table 7100; ip -6 route show table 7101").sorted()
                    == whole.sorted())
            shell("ip link set trocket0 down; ip link set trocket0 name elsewhere; ip link set elsewhere up")
            #expect(try host.repair().needsWiring)
            #expect(try host.verify() == [])
            #expect(shell("ip -o link show elsewhere").contains("does not exist"))
            shell("ip link del trocket0")
            #expect(try host.repair().needsWiring)
            #expect(try host.verify() == [])
            #expect(try inside(sandbox) { shell("ip -o link show uplink0") }.contains("02:74:72:6f:63:02"))
            try host.lower()
            fixture.remove()
        }
    }

    @Test func aNewSandboxTakesTheLinkOver() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let request = try fixture.request(host)
            let first = try makeNamespace()
            let second = try makeNamespace()
            try host.raise(request, sandbox: try first.duplicate())
            try host.raise(request, sandbox: try second.duplicate())
            #expect(try host.verify() == [])
            #expect(try inside(first) { shell("ip -o link show uplink0") }.contains("does not exist"))
            #expect(try inside(second) { shell("ip -o link show uplink0") }.contains("uplink0"))
            #expect(!shell("ip route show table all; ip -6 route show table all").contains("7100000"))
            try host.lower()
            fixture.remove()
        }
    }

    @Test func aHeldNamespaceKeepsTheLinkOfADeadEngine() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            // Nobody but the host network holds this namespace.
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            #expect(shell("ip route get 8.8.8.8").contains("dev trocket0"))
            #expect(try host.verify() == [])
            try host.lower()
            fixture.remove()
        }
    }

    @Test func whatIsWantedCanChange() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            var request = try fixture.request(host)
            try host.update(request)
            #expect(host.installed.link == nil && shell("nft list ruleset").contains("flags owner"))
            try host.raise(request, sandbox: try makeNamespace())
            request.guardLifetime = .persistent
            try host.update(request)
            shell("nft flush ruleset")
            #expect(shell("nft list ruleset").contains("flags owner"), "only this process can change it")
            #expect(!shell("nft list tables").contains(Reserved.guardStandIn))
            request.domestic = [Prefix("1.0.1.0/24")!, Prefix("2001:250::/35")!]
            try host.update(request)
            #expect(shell("ip route get 1.0.1.9").contains("dev eth0"))
            #expect(shell("ip route get 1.0.1.9 ipproto udp dport 53").contains("dev trocket0"))
            #expect(shell("ip -6 route get 2001:250::9").contains("dev eth0"))
            #expect(shell("ip route get 1.0.2.9").contains("dev trocket0"))
            #expect(shell("nft list set inet trocket_domestic domestic4").contains("1.0.1.0/24"))
            // A conversation from the tunnel's own address stays in it.
            #expect(shell("ip route get 1.0.1.9 from 198.19.77.1").contains("dev trocket0"))
            #expect(shell("ip -6 route get 2001:250::9 from fd74:726f:636b:6574::1").contains("dev trocket0"))
            // Another sandbox, another guard, somebody's meddling: domestic traffic keeps its way.
            try host.raise(request, sandbox: try makeNamespace())
            request.guardLifetime = .worker
            try host.update(request)
            #expect(shell("nft list set inet trocket_domestic domestic6").contains("2001:250::/35"))
            shell("ip route del throw 1.0.1.0/24 table 7100; ip route add throw 1.0.2.0/24 table 7100")
            shell("ip -6 route add throw 2001:251::/35 table 7101")
            #expect(
                Set(try host.verify()) == [
                    .domesticRoutesChanged(.ipv4, Reserved.tunnelTable),
                    .domesticRoutesChanged(.ipv6, Reserved.dnsTable),
                ])
            _ = try host.repair()
            shell("ip route add throw 1.0.1.0/24 metric 5 table 7100")
            #expect(try host.verify() == [.domesticRoutesChanged(.ipv4, Reserved.tunnelTable)])
            _ = try host.repair()
            #expect(try host.verify() == [], "one that is there twice goes, and comes back once")
            request.guardLifetime = .persistent
            try host.update(request)
            shell(
                "nft delete table inet trocket_domestic; nft add element inet trocket_domestic domestic4 '{ 8.0.0.0/8 }'"
            )
            #expect(try host.verify() == [], "it has an owner")
            try host.refuseDomestic()
            #expect(try host.verify() == [.domesticTableChanged])
            _ = try host.repair()
            #expect(try host.verify() == [])
            #expect(shell("ip route get 1.0.1.9").contains("dev eth0"))
            #expect(shell("ip route get 1.0.2.9").contains("dev trocket0"))
            #expect(shell("nft list set inet trocket_domestic domestic4").contains("1.0.1.0/24"))
            try host.throwDomestic([])
            #expect(!shell("nft list ruleset; ip route show table 7100").contains("1.0.1.0"))
            request.domestic = []
            request.guardLifetime = .worker
            try host.update(request)
            #expect(shell("ip route get 1.0.1.9").contains("dev trocket0"))
            try host.lower(keepingGuard: true)
            #expect(shell("nft list ruleset").contains("trocket_guard"))
            #expect(shell("ip -o link show trocket0").contains("does not exist"))
            try host.lower()
            #expect(shell("nft list ruleset") == "")
            fixture.remove()
        }
    }

    @Test func aFailureHalfWayIsKnownAndUndone() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let request = try fixture.request(host, killSwitch: true)
            let before = Fixture.state()
            let foreign = try #require(Nftables(reachable: true))
            try foreign.run("add table inet trocket_guard { flags owner; }", "making", "a table")
            #expect(throws: FirewallError.self) { try host.raise(request, sandbox: try makeNamespace()) }
            try host.lower()
            try foreign.remove("trocket_guard")
            #expect(Fixture.state() == before)
            // The name is taken between survey and raising.
            shell("ip link add trocket0 type bridge")
            let error = #expect(throws: HostConflict.self) { try host.raise(request, sandbox: try makeNamespace()) }
            #expect(error == .linkTaken(Reserved.link, kind: "bridge"))
            try host.lower()
            shell("ip link del trocket0")
            #expect(Fixture.state() == before)
            fixture.remove()
        }
    }

    /// What guards while the guard is made anew must not go on alone: nobody would know what lets nothing out.
    @Test func aStandInOfTheGuardGoesWhateverCameInBetween() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let before = Fixture.state()
            let host = try fixture.host()
            let request = try fixture.request(host, killSwitch: true)
            func leaveStandIn(of owner: HostNetwork) throws {
                let text = try #require(HostPlanBuilder.plan(request).guardTable?.standIn)
                try owner.nft?.replace(Reserved.guardStandIn, with: text)
            }
            try leaveStandIn(of: host)
            try host.cleanUp(keepingGuard: true)
            #expect(shell("nft list tables").contains(Reserved.guardStandIn), "what is closed stays closed")
            try host.cleanUp(keepingGuard: false)
            #expect(Fixture.state() == before)
            try host.raise(request, sandbox: try makeNamespace())
            try leaveStandIn(of: host)
            try host.update(try fixture.request(host))
            #expect(!shell("nft list tables").contains(Reserved.guardStandIn), "a guard of the other kind is here")
            try leaveStandIn(of: host)
            try host.lower()
            #expect(Fixture.state() == before)
            // The one of a worker that is killed goes with it.
            var doomed: HostNetwork? = try fixture.host()
            if let doomed { try leaveStandIn(of: doomed) }
            #expect(shell("nft list tables").contains(Reserved.guardStandIn))
            doomed = nil
            #expect(Fixture.state() == before)
            fixture.remove()
        }
    }

    /// The network may go, in both families or in one, while the kill switch is on.
    @Test(arguments: ["true", "ip addr flush dev eth0", "ip -4 addr flush dev eth0", "ip -6 addr flush dev eth0"])
    func theGuardIsMadeTheSameWayOnAHostWithoutNetworks(change: String) async {
        await #expect(processExitsWith: .success) { [change] in
            let fixture = Fixture()
            let host = try fixture.host()
            try host.update(try fixture.request(host, killSwitch: true))
            shell(change)
            try host.update(try fixture.request(host, killSwitch: true))
            #expect(!fixture.sink.lines.contains { $0.contains("made in another way") })
            try host.lower()
            fixture.remove()
        }
    }

    @Test func hostsThatSwitchIPv6OffForNewLinksStillGetItTakenIn() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("sysctl -w net.ipv6.conf.default.disable_ipv6=1")
            let host = try fixture.host()
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            #expect(shell("ip -6 route get 2606:4700::1").contains("dev trocket0"))
            try host.lower()
            fixture.remove()
        }
    }

    @Test func fiftyRoundsLeaveNothing() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let request = try fixture.request(host)
            let before = Fixture.state()
            let descriptors = try Directory("/proc/self/fd").names().count
            for _ in 0..<50 {
                try host.raise(request, sandbox: try makeNamespace())
                try host.lower()
            }
            #expect(Fixture.state() == before)
            #expect(try Directory("/proc/self/fd").names().count == descriptors)
            fixture.remove()
        }
    }
}
