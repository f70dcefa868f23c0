// A host in a namespace: an uplink, a ledger directory, a sandbox namespace, and the whole state as text.

import Addressing
import Linux
import Logging
import NamespaceSupport
import NetworkPlan

@testable import TunnelHost

/// A made-up host. Make it inside an exit test after `enterFreshNamespace()`.
final class Fixture {
    let path: String
    let sink = MemorySink()

    /// An uplink `eth0` with 203.0.113.2/24 and 2001:db8:1::2/64 and default routes.
    init() {
        enterFreshNamespace()
        path = makeTemporaryDirectory()
        shell(
            """
            sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.router_solicitations=0
            ip link add eth0 address 02:00:00:00:00:01 type veth peer eth0q; ip link set eth0q up; ip link set eth0 up
            ip addr add 203.0.113.2/24 dev eth0; ip addr add 2001:db8:1::2/64 dev eth0 nodad
            ip route add default via 203.0.113.1; ip -6 route add default via 2001:db8:1::1
            """)
        waitUntil(
            "the uplink has its carrier, its link-local addresses and their routes",
            """
            [ "$(ip -o -6 addr show scope link | grep -vc tentative)" = 2 ] && ip link show eth0 | grep -q 'state UP' &&
                [ "$(ip -6 route show table local type local | grep -c dev.eth0)" -ge 3 ]
            """)
    }

    /// Takes the ledger directory away; call it last.
    func remove() { removeTemporaryDirectory(path) }

    /// - Parameter resolver: none unless a test brings one: the real one would be told of a link of this namespace by a number
    ///   that means another link to it.
    func host(owner: UInt32 = 0, resolver: any DNSBackend = NoResolver()) throws -> HostNetwork {
        try HostNetwork(
            ledgerIn: try Directory(path), owner: owner, log: Log("test", sink: sink, minimum: .debug),
            dnsBackend: resolver)
    }

    func request(_ host: HostNetwork, killSwitch: Bool = false) throws -> HostPlanRequest {
        try host.survey().request(engine: UserID(rawValue: 61002), killSwitch: killSwitch, sandboxHasNft: true)
    }

    /// Everything that must be as before after a disconnect.
    static func state() -> String {
        shell(
            """
            ip -details rule; ip -6 -details rule; ip route show table all; ip -6 route show table all
            ip -o link | sed 's/^[0-9]*: //'; ip -o addr | sed 's/^[0-9]*: //; s/valid_lft.*//'; nft list ruleset
            sysctl -a 2>/dev/null | grep -E '^net.ipv[46].(conf|ip_)' | grep -v -E 'stable_secret|trocket0'
            """)
    }
}

extension EventLoop {
    /// Runs until something is so; a test that has waited half a minute goes on, and fails by what it expects.
    func run(until isSo: () throws -> Bool) throws {
        let deadline = Moment.now.adding(milliseconds: 30_000)
        while try !isSo(), Moment.now < deadline { try turn(timeout: 1_000) }
    }
}

/// A host on which nothing resolves names.
final class NoResolver: DNSBackend {
    let directory = "/nonexistent"
    func isPresent() throws(DNSError) -> Bool { false }
    func secure(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) { throw Self.absent }
    func isSecured(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) -> Bool { throw Self.absent }
    func revert(_ link: InterfaceIndex) throws(DNSError) { throw Self.absent }
    private static let absent = DNSError(operation: "asking", text: "no resolver")
}
