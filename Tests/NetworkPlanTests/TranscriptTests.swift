// Golden transcripts: the plan as `ip` and `nft` show it, equal to the one that was run by hand with the real engine.

import Addressing
import NetworkPlan
import Testing

@Suite struct TranscriptTests {
    private func rules(_ family: AddressFamily) -> [String] {
        Example.plan.rules.filter { $0.family == family }.map(\.description)
    }

    @Test func rulesOfIPv4() {
        #expect(
            rules(.ipv4) == [
                "7100: from all uidrange 61002-61002 goto 7200",
                "7105: from all ipproto udp sport 53 dport 53 nop",
                "7110: from all iif lo ipproto udp dport 53 lookup 7101",
                "7110: from all iif lo ipproto tcp dport 53 lookup 7101",
                "7115: from all to 255.255.255.255 lookup main",
                "7115: from all to 224.0.0.0/4 lookup main",
                "7115: from all to 169.254.0.0/16 lookup main",
                "7120: from all to 10.0.0.0/8 lookup main suppress_prefixlength 0",
                "7120: from all to 172.16.0.0/12 lookup main suppress_prefixlength 0",
                "7120: from all to 192.168.0.0/16 lookup main suppress_prefixlength 0",
                "7120: from all to 100.64.0.0/10 lookup main suppress_prefixlength 0",
                "7120: from all to 203.0.113.0/24 lookup main suppress_prefixlength 0",
                "7125: from all iif lo ipproto udp dport 853 lookup 7101",
                "7125: from all iif lo ipproto tcp dport 853 lookup 7101",
                "7130: from 0.0.0.0 iif lo lookup 7100",
                "7130: from 198.19.77.0/30 iif lo lookup 7101",
                "7200: from all uidrange 61002-61002 lookup main",
            ])
    }

    @Test func rulesOfIPv6() {
        #expect(
            rules(.ipv6) == [
                "7100: from all uidrange 61002-61002 goto 7200",
                "7105: from all ipproto udp sport 53 dport 53 nop",
                "7110: from all iif lo ipproto udp dport 53 lookup 7101",
                "7110: from all iif lo ipproto tcp dport 53 lookup 7101",
                "7120: from all to fc00::/7 lookup main suppress_prefixlength 0",
                "7120: from all to fe80::/10 lookup main suppress_prefixlength 0",
                "7120: from all to 2001:db8:1::/64 lookup main suppress_prefixlength 0",
                "7125: from all iif lo ipproto udp dport 853 lookup 7101",
                "7125: from all iif lo ipproto tcp dport 853 lookup 7101",
                "7130: from fd74:726f:636b:6574::/126 iif lo lookup 7101",
                "7131: from 2000::/3 lookup main",
                "7131: from fc00::/7 lookup main",
                "7131: from fe80::/10 lookup main",
                "7132: from all iif lo lookup 7100",
                "7200: from all uidrange 61002-61002 lookup main",
            ])
    }

    @Test func linkAndRoutes() {
        let lines = Example.plan.transcript.split(separator: "\n").map(String.init)
        #expect(
            lines.filter { line in ["link", "address", "neighbour", "route"].contains { line.hasPrefix($0) } } == [
                "link trocket0 address 02:74:72:6f:63:01 mtu 1500 type veth peer uplink0 address 02:74:72:6f:63:02",
                "address 198.19.77.1/30 dev trocket0",
                "address fd74:726f:636b:6574::1/126 dev trocket0",
                "neighbour 198.19.77.2 lladdr 02:74:72:6f:63:02 dev trocket0 nud permanent",
                "neighbour fd74:726f:636b:6574::2 lladdr 02:74:72:6f:63:02 dev trocket0 nud permanent",
                "route default via 198.19.77.2 dev trocket0 table 7100",
                "route default via 198.19.77.2 dev trocket0 table 7101",
                "route -6 default via fd74:726f:636b:6574::2 dev trocket0 table 7100",
                "route -6 default via fd74:726f:636b:6574::2 dev trocket0 table 7101",
            ])
    }

    @Test func guardTable() {
        #expect(
            Example.plan.guardTable?.text == """
                table inet trocket_guard {
                \tset onlink4 {
                \t\ttype ipv4_addr
                \t\tflags interval
                \t\telements = { 203.0.113.0/24 }
                \t}

                \tset onlink6 {
                \t\ttype ipv6_addr
                \t\tflags interval
                \t\telements = { 2001:db8:1::/64 }
                \t}

                \tchain out {
                \t\ttype filter hook output priority filter; policy accept;
                \t\tmeta mark 0x74726f63 accept
                \t\tmeta skuid 61002 meta l4proto tcp ct state new ct mark 0x00000000 ct mark set 0x71000000
                \t\tmeta skuid 61002 accept
                \t\toifname { "lo", "trocket0" } accept
                \t\tmeta skuid != 61002 ct mark 0x71000000 ct mark set 0x00000000
                \t\tct mark 0x71000000 accept
                \t\tmeta skuid 0 meta mark & 0x00ff0000 == 0x00080000 accept
                \t\tmeta l4proto { tcp, udp } th dport { 53, 853 } reject
                \t\tct direction reply accept
                \t\tudp sport 68 udp dport 67 accept
                \t\tudp sport 546 udp dport 547 accept
                \t\ticmpv6 type { mld-listener-report, nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert, \
                mld2-listener-report } accept
                \t\tip daddr { 10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16, 224.0.0.0/4, \
                255.255.255.255 } accept
                \t\tip6 daddr { fc00::/7, fe80::/10, ff00::/8 } accept
                \t\tip daddr @onlink4 accept
                \t\tip6 daddr @onlink6 accept
                \t\treject
                \t}

                \tchain no_return {
                \t\ttype filter hook forward priority filter; policy accept;
                \t\tiifname "trocket0" drop
                \t}
                }

                """)
    }

    @Test func guardWithoutKillSwitchHasAnOwner() throws {
        var request = Example.request
        request.guardLifetime = .worker
        let text = try #require(HostPlanBuilder.plan(request).guardTable?.text)
        #expect(text.hasPrefix("table inet trocket_guard {\n\tflags owner\n\n\tset onlink4 {"))
    }

    @Test func sandbox() {
        #expect(
            SandboxPlan(addresses: .preferred, hasNft: true).transcript == """
                link lo up
                link uplink0 up
                link tun0 up mtu 65535
                address 198.19.77.2/30 dev uplink0
                address fd74:726f:636b:6574::2/126 dev uplink0
                neighbour 198.19.77.1 lladdr 02:74:72:6f:63:01 dev uplink0 nud permanent
                neighbour fd74:726f:636b:6574::1 lladdr 02:74:72:6f:63:01 dev uplink0 nud permanent
                net.ipv6.ip_nonlocal_bind = 1
                net.ipv4.ip_forward = 1
                net.ipv6.conf.all.forwarding = 1
                net.ipv4.ip_unprivileged_port_start = 0
                rule 100: from all fwmark 0x1 lookup 100
                rule 101: from all iif uplink0 lookup 101
                rule -6 100: from all fwmark 0x1 lookup 100
                rule -6 101: from all iif uplink0 lookup 101
                route default dev tun0 table 101
                route unreachable default table 101 metric 4000000
                route local default dev lo table 100
                route default via 198.19.77.1 dev uplink0
                route -6 default dev tun0 table 101
                route -6 unreachable default table 101 metric 4000000
                route -6 local default dev lo table 100
                route -6 default via fd74:726f:636b:6574::1 dev uplink0
                table inet trocket {
                \tchain guard {
                \t\ttype filter hook prerouting priority raw; policy accept;
                \t\tiifname "uplink0" ip daddr { 198.19.77.2, 198.19.78.1 } meta l4proto { tcp, udp } drop
                \t\tiifname "uplink0" ip6 daddr { fd74:726f:636b:6574::2, fd74:726f:636b:6575::1 } meta l4proto { tcp, udp } drop
                \t}

                \tchain divert_tcp {
                \t\ttype nat hook prerouting priority dstnat; policy accept;
                \t\tiifname "uplink0" meta l4proto tcp redirect to :7892
                \t}

                \tchain divert_udp {
                \t\ttype filter hook prerouting priority mangle; policy accept;
                \t\tiifname "uplink0" meta l4proto udp meta nfproto ipv4 tproxy ip to :7893 meta mark set 0x00000001 accept
                \t\tiifname "uplink0" meta l4proto udp meta nfproto ipv6 tproxy ip6 to :7893 meta mark set 0x00000001 accept
                \t}

                \tchain no_return {
                \t\ttype filter hook forward priority filter; policy accept;
                \t\tiifname "uplink0" oifname "uplink0" drop
                \t}
                }

                """)
    }

    @Test func withoutIPv6NothingOfItIsAsked() {
        var request = Example.request
        request.hasIPv6 = false
        let plan = HostPlanBuilder.plan(request)
        #expect(plan.rules.allSatisfy { $0.family == .ipv4 })
        #expect(plan.routes.allSatisfy { $0.family == .ipv4 })
        #expect(plan.link?.addresses.map(\.family) == [.ipv4])
        #expect(SandboxPlan(addresses: .preferred, hasNft: false, hasIPv6: false).ruleset == nil)
    }

    @Test func domesticDestinationsAreThrownFromTheTunnelTableOnly() throws {
        var request = Example.request
        request.domestic = Example.prefixes("1.0.1.0/24", "1.0.2.0/23", "2001:250::/35")
        let plan = HostPlanBuilder.plan(request)
        #expect(
            plan.transcript.split(separator: "\n").filter { $0.contains("throw") } == [
                "route throw 1.0.1.0/24 table 7100", "route throw 1.0.2.0/23 table 7100",
                "route -6 throw 2001:250::/35 table 7100",
            ])
        #expect(plan.routes == Example.plan.routes)
        #expect(plan.guardTable == Example.plan.guardTable, "thousands of elements do not make the table another one")
        #expect(plan.guardTable?.ruleCount == 17)
        #expect(HostPlanBuilder.blocked(request).domestic == [])
    }

    @Test func onlyNewConnectionsAreThrownOutOfTheTunnel() {
        // What has the tunnel's address already must never see a table with `throw` routes.
        for rule in Example.plan.rules where rule.source == LinkAddresses.preferred.network(rule.family) {
            #expect(rule.action == .lookup(Reserved.dnsTable))
        }
    }
}
