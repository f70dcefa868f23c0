// Rules of other programs in front of ours: seen where they take ordinary traffic away, and nowhere else.

import Addressing
import Linux
import Logging
import NamespaceSupport
import NetworkPlan
import Testing

@testable import TunnelHost

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct DiversionTests {
    @Test func whatTakesOrdinaryTrafficAwayIsNamed() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("ip link add wg0 type veth peer wg0q; ip link set wg0q up; ip link set wg0 up")
            shell("ip addr add 10.66.0.2/24 dev wg0; ip route add default dev wg0 table 51820")
            let host = try fixture.host()
            var request = try fixture.request(host)
            request.user = UserID(rawValue: 1000)
            try host.raise(request, sandbox: try makeNamespace())
            #expect(try !host.lookForDiversions())

            let cases: [(String, Diversion)] = [
                ("ip rule add prio 50 lookup main", diversion(.ipv4, "eth0", "50: from all lookup main")),
                ("ip -6 rule add prio 50 lookup main", diversion(.ipv6, "eth0", "50: from all lookup main")),
                // As wg-quick does after us: without a priority it goes in front of the first.
                ("ip rule add not fwmark 51820 table 51820", diversion(.ipv4, "wg0", "7099: … lookup 51820")),
                (
                    "ip rule add prio 50 uidrange 1000-1000 lookup main",
                    diversion(.ipv4, "eth0", "50: from all uidrange 1000-1000 lookup main")
                ),
                (
                    "ip rule add prio 50 ipproto tcp dport 443 lookup main",
                    diversion(.ipv4, "eth0", "50: from all ipproto tcp dport 443 lookup main")
                ),
                ("ip rule add prio 50 goto 32766", diversion(.ipv4, "eth0", "50: from all goto 32766")),
                ("ip rule add prio 50 prohibit", diversion(.ipv4, nil, "50: …")),
                ("ip -6 rule add prio 50 unreachable", diversion(.ipv6, nil, "50: …")),
                (
                    "ip rule add prio 50 ipproto udp dport 53 lookup main",
                    Diversion(
                        family: .ipv4, onlyNames: true, link: "eth0",
                        rule: "50: from all ipproto udp dport 53 lookup main")
                ),
            ]
            for (command, expected) in cases {
                #expect(shell(command) == "")
                // One of those that lead elsewhere, and is not the one.
                shell(
                    "ip rule add prio 40 fwmark 0x10/0xf0 lookup main; ip rule add prio 45 from 10.0.0.0/8 lookup main")
                defer { shell("ip rule del prio 40; ip rule del prio 45") }
                #expect(try host.lookForDiversions(), "\(command)")
                #expect(host.diversions == [expected], "\(command)")
                #expect(try host.verify() == [], "everything of ours is there")
                #expect(try !host.lookForDiversions(), "no news")
                shell(command.replacing("rule add", with: "rule del"))
                #expect(try host.lookForDiversions() && host.diversions == [], "\(command)")
            }
            #expect(fixture.sink.lines.contains { $0.contains("traffic does not go into the tunnel") })
            try host.lower()
            fixture.remove()
        }
    }

    @Test func whatLeavesOrdinaryTrafficAloneIsNoConcern() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("ip link add ts0 type veth peer ts0q; ip link set ts0q up; ip link set ts0 up")
            shell("ip addr add 100.100.0.2/32 dev ts0; ip route add 100.64.0.0/10 dev ts0 table 52")
            let host = try fixture.host()
            var request = try fixture.request(host)
            request.user = UserID(rawValue: 1000)
            request.domestic = [Prefix("2001:db8::/32")!]
            try host.raise(request, sandbox: try makeNamespace())
            shell(
                """
                ip rule add prio 5210 fwmark 0x80000/0xff0000 lookup main; ip rule add prio 5230 fwmark 0x80000/0xff0000 lookup default
                ip rule add prio 5250 fwmark 0x80000/0xff0000 unreachable; ip rule add prio 5270 lookup 52
                ip rule add prio 32764 lookup main suppress_prefixlength 0
                ip rule add prio 32765 not fwmark 51820 lookup 51820
                ip rule add prio 10 to 8.8.8.0/24 lookup main; ip rule add prio 11 to 192.0.2.0/24 lookup main
                ip rule add prio 12 fwmark 0x1 lookup 100; ip -6 rule add prio 12 fwmark 0x1 lookup 100
                ip rule add prio 13 from 203.0.113.2 lookup main; ip -6 rule add prio 13 from 2001:db8:1::2 lookup main
                ip rule add prio 14 uidrange 61002-61002 lookup main; ip rule add prio 15 oif eth0 lookup main
                ip rule add prio 16 iif eth0 lookup main; ip rule add prio 9001 lookup 2022
                ip rule add prio 17 lookup main suppress_prefixlength 0
                """)
            #expect(try !host.lookForDiversions(), "\(host.diversions)")
            // Where every address that could be asked for is near, there is nothing to ask.
            shell(
                "ip addr add 192.0.2.2/24 dev eth0; ip addr add 198.51.100.2/24 dev eth0; ip addr add 3fff::2/64 dev eth0 nodad"
            )
            _ = host.examine(knownUplinks: [])
            #expect(host.diversions == [])
            try host.lower()
            fixture.remove()
        }
    }

    @Test func theWatchTellsOfIt() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let loop = try EventLoop()
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            var reports: [NetworkReport] = []
            try host.watch(on: loop) { reports.append($0) }
            for (command, count) in [("ip rule add prio 50 lookup main", 1), ("ip rule del prio 50", 0)] {
                shell(command)
                let told = reports.count
                try loop.run { reports.count != told }
                #expect(reports.last?.diversionsChanged == true && reports.last?.repair.drifts == [])
                #expect(host.diversions.count == count)
            }
            shell("ip rule add prio 50 lookup main")
            try host.lookForDiversions()
            host.stopWatching()
            try host.lower()
            #expect(host.diversions == [])
            fixture.remove()
        }
    }
}

private func diversion(_ family: AddressFamily, _ link: String?, _ rule: String) -> Diversion {
    Diversion(family: family, onlyNames: false, link: link, rule: rule)
}
