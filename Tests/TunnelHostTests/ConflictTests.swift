// Others on the host: names and numbers that are taken, other clients, other workers, and what dead workers left.

import Addressing
import Firewall
import Linux
import Logging
import NamespaceSupport
import NetworkPlan
import Testing

@testable import TunnelHost

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct ConflictTests {
    @Test func takenNamesAndNumbersAreRefusedAndNothingIsTouched() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let cases: [(String, String, HostConflict)] = [
                (
                    "ip link add trocket0 type bridge", "ip link del trocket0",
                    .linkTaken(Reserved.link, kind: "bridge")
                ),
                (
                    "ip rule add prio 7110 lookup main", "ip rule del prio 7110",
                    .priorityTaken(Reserved.dnsRule, .ipv4)
                ),
                (
                    "ip -6 rule add prio 7150 oif eth0 lookup main", "ip -6 rule del prio 7150",
                    .priorityTaken(RulePriority(rawValue: 7150), .ipv6)
                ),
                (
                    "ip route add 192.0.2.0/24 dev eth0 table 7101", "ip route flush table 7101",
                    .tableTaken(Reserved.dnsTable, route: "192.0.2.0/24 dev eth0 table 7101")
                ),
            ]
            for (make, unmake, expected) in cases {
                shell(make)
                let before = Fixture.state()
                #expect(throws: expected) { _ = try host.survey() }
                #expect(Fixture.state() == before)
                shell(unmake)
            }
            _ = try host.survey()
            fixture.remove()
        }
    }

    @Test func anotherWorkerThatLivesIsNamedAndOneThatDiedIsCleanedUp() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            var child = ChildRequest(path: "/bin/sleep", arguments: ["sleep", "60"])
            child.environment = []
            let other = try ChildProcess(starting: child)
            let stat = try #require(try KernelFile.read("/proc/\(other.pid)/stat"))
            let start = try #require(UInt64(stat.split(separator: ") ").last!.split(separator: " ")[19]))
            shell("ip link add trocket0 address 02:74:72:6f:63:01 type veth peer uplink0")
            shell("ip link set trocket0 alias 'trocket-tunnel \(other.pid) \(start)'")
            #expect(throws: HostConflict.workerRunning(pid: other.pid)) { _ = try host.survey() }
            #expect(throws: HostConflict.workerRunning(pid: other.pid)) { _ = try host.cleanUp(keepingGuard: false) }
            other.end(graceMilliseconds: 1000)
            #expect(try host.survey().leftovers == ["link trocket0"])
            #expect(try host.cleanUp(keepingGuard: false) == ["link trocket0"])
            #expect(try host.survey().leftovers == [])
            fixture.remove()
        }
    }

    @Test func otherClientsAreSeen() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            #expect(try host.survey().otherClients == [])
            shell("ip rule add prio 9001 lookup 2022; ip rule add prio 5270 lookup 52")
            shell("ip rule add prio 100 not fwmark 0xca6c lookup 51820")
            #expect(try host.survey().otherClients == [.singBox, .wgQuick, .tailscale])
            fixture.remove()
        }
    }

    @Test func usedAddressesAreAvoided() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            shell("ip addr add 198.19.1.1/16 dev eth0; ip -6 route add fd74:726f::/32 dev eth0")
            let addresses = try fixture.host().survey().addresses
            #expect(addresses.ipv4.description == "198.18.77.0/30")
            #expect(addresses.ipv6.description == "fdb4:726f:636b:6574::/126")
            fixture.remove()
        }
    }

    /// What a worker leaves that is killed: with the kill switch off rules only, with it on the guard too.
    @Test(arguments: [false, true], ["whole", "torn", "gone", "other boot"])
    func whatACrashLeftIsRemoved(killSwitch: Bool, ledger: String) async {
        await #expect(processExitsWith: .success) { [killSwitch, ledger] in
            let fixture = Fixture()
            let before = Fixture.state()
            try crash(fixture, killSwitch: killSwitch)
            switch ledger {
            case "torn": shell("truncate -s 40 \(fixture.path)/ledger.json")
            case "gone": shell("rm \(fixture.path)/ledger.json")
            case "other boot": shell("sed -i 's/\"boot\": \"/&0/' \(fixture.path)/ledger.json")
            default: break
            }
            let host = try fixture.host()
            let survey = try host.survey()
            #expect((survey.ledgerProblem == nil) == (ledger != "torn"))
            #expect(survey.guardLeft == (killSwitch ? .persistent : nil))
            #expect(survey.leftovers.contains("rule 7110: from all iif lo ipproto udp dport 53 lookup 7101"))
            if killSwitch {
                try host.cleanUp(keepingGuard: true)
                #expect(shell("nft list ruleset").contains("trocket_guard"))
                #expect(!shell("ip rule").contains("7110"))
            }
            try host.cleanUp(keepingGuard: false)
            #expect(Fixture.state() == before)
            #expect(try Directory(fixture.path).names() == [])
            // And the way is free again.
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            try host.lower()
            fixture.remove()
        }
    }

    @Test func aForeignLedgerIsNeitherTrustedNorReplaced() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            shell("echo '{}' > \(fixture.path)/ledger.json; chown 12345 \(fixture.path)/ledger.json")
            let problem = try #require(try host.survey().ledgerProblem)
            #expect(problem.problem == "belongs to user 12345, not to user 0")
            #expect(shell("cat \(fixture.path)/ledger.json") == "{}\n")
            fixture.remove()
        }
    }
}

/// Raises a tunnel and loses the worker: its descriptors and context go, nothing is undone.
private func crash(_ fixture: Fixture, killSwitch: Bool) throws {
    let host = try fixture.host()
    try host.raise(try fixture.request(host, killSwitch: killSwitch), sandbox: try makeNamespace())
    _ = consume host
    // The kernel takes a dead namespace apart on its own thread.
    waitUntil("the dead worker's link is gone", "! ip link show trocket0")
}
