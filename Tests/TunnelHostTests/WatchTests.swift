// Answering changes: repaired soon, never at full speed, the plan following the networks the host is on.

import Addressing
import Firewall
import Linux
import NamespaceSupport
import NetworkPlan
import Testing

@testable import TunnelHost

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct WatchTests {
    @Test func changesAreAnswered() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let loop = try EventLoop()
            try host.raise(try fixture.request(host, killSwitch: true), sandbox: try makeNamespace())
            var reports: [NetworkReport] = []
            try host.watch(on: loop) { reports.append($0) }

            func answer(_ command: String) throws -> NetworkReport? {
                shell(command)
                let count = reports.count
                try loop.run { reports.count != count }
                return reports.count > count ? reports[count] : nil
            }

            // What happens while a tunnel is raised is left to its reading back.
            try loop.turn(timeout: 0)
            #expect(reports.isEmpty)
            #expect(try answer("ip rule del prio 7110 ipproto udp")?.repair.drifts.count == 1)
            // As the guard is made where the kernel knows no table that outlives its owner.
            try host.nft?.replace(Reserved.guardTable, with: try #require(host.installed.guardTable).text)
            #expect(try answer("nft delete table inet trocket_guard")?.repair.drifts == [.guardMissing])

            // The short look is shown ways out only.
            let dead = try #require(try answer("ip route add blackhole 9.9.9.0/24 table 7100"))
            #expect(dead.repair.drifts == [.routeForeign(Reserved.tunnelTable, "9.9.9.0/24")])
            let moved = try #require(
                try answer("ip addr add 198.51.100.2/24 dev eth0; ip addr add 198.51.100.4/24 dev eth0"))
            #expect(moved.onLinkChanged && !moved.uplinkChanged)
            #expect(shell("ip rule").contains("7120:\tfrom all to 198.51.100.0/24 lookup main suppress_prefixlength 0"))
            #expect(shell("nft list ruleset").contains("198.51.100.0/24"))

            let rerouted = try #require(try answer("ip route replace default via 198.51.100.1"))
            #expect(rerouted.uplinkChanged && rerouted.repair.drifts.isEmpty)

            // The network is the same, and the way out.
            let gone = try #require(try answer("ip addr del 198.51.100.4/24 dev eth0"))
            #expect(gone.addressGone && gone.outdatesProofs && !gone.onLinkChanged && !gone.uplinkChanged)

            // Removals in a row are answered after 50 and 100 ms, then at most every 250 ms.
            let first = Moment.now
            let before = reports.count
            while Moment.now.milliseconds(since: first) < 600 {
                shell("ip rule del prio 7105")
                try loop.turn(timeout: 50)
            }
            let most = Moment.now.milliseconds(since: first) / 250 + 3
            #expect((1...most).contains(reports.count - before))
            #expect(try answer("ip rule del prio 7115")?.failure == nil)
            #expect(try host.verify() == [])
            // What a repair hears of others is answered after it, not in the midst of it.
            shell("ip addr add 198.51.100.3/24 dev eth0")
            host.watch?.answered = nil
            let told = reports.count
            host.takeNewsOfOwnChanges()
            #expect(host.watch?.pending != nil && reports.count == told)
            // Who asks how things are is told of everything that has happened.
            shell("ip rule del prio 7105")
            host.catchUp()
            #expect(reports.count == told + 1 && reports.last?.outdatesProofs == true && host.watch?.pending == nil)
            host.catchUp()
            #expect(reports.count == told + 1)
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }

    @Test func theTriesComeLaterAndLater() {
        #expect([0, 1, 2, 3, 4, 5, 1000].map(HostNetwork.patience) == [250, 500, 1000, 2000, 4000, 4000, 4000])
    }

    /// What the whole look cannot put right, and the short one does not see.
    @Test func whatCannotBePutRightIsTriedAgainLaterAndLater() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let loop = try EventLoop()
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            let prefix = try #require(Prefix("1.0.1.0/24"))
            try host.throwDomestic([prefix])
            var reports: [NetworkReport] = []
            try host.watch(on: loop) { reports.append($0) }
            // The kernel has no room for it twice.
            host.installed.domestic = [prefix, prefix]
            shell("ip route add blackhole 192.0.2.0/24")
            try loop.run { reports.count == 2 }
            #expect(host.watch?.failures == 2 && host.watch?.pendingRetry != nil)
            // From the third on it waits so long that what follows here comes before.
            host.watch?.failures = 4
            try loop.run { reports.count == 3 }
            try #require(reports.count == 3)
            #expect(reports.allSatisfy { $0.failure is ReadBackError })
            // That the short look is content says nothing of that.
            shell("ip route replace default via 203.0.113.9")
            try loop.run { reports.last?.uplinkChanged == true }
            #expect(reports.last?.failure == nil && host.watch?.pendingRetry != nil)
            host.installed.domestic = [prefix]
            try loop.run { host.watch?.pendingRetry == nil }
            #expect(host.watch?.failures == 0)
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }

    @Test func theWholeLookComesLaterThanTheShortOneAndSeldom() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let loop = try EventLoop()
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            var isAnswered = false
            try host.watch(on: loop) { if !$0.repair.drifts.isEmpty { isAnswered = true } }
            func milliseconds(toAnswer command: String, before: () -> Void = {}) throws -> Int {
                isAnswered = false
                shell(command)
                before()
                let start = Moment.now
                while !isAnswered, Moment.now.milliseconds(since: start) < 10_000 { try loop.turn(timeout: 10_000) }
                return Moment.now.milliseconds(since: start)
            }
            #expect(try (150..<10_000).contains(milliseconds(toAnswer: "ip route add blackhole 9.9.9.0/24 table 7100")))
            #expect(host.watch?.answeredWhole != nil)
            // Somebody goes on.
            let second = try milliseconds(toAnswer: "ip route add blackhole 9.9.8.0/24 table 7100") {
                host.watch?.answeredWhole = .now
            }
            #expect((600..<10_000).contains(second))
            // A short repair has taken news with it that only the whole look answers.
            #expect(host.watch?.pendingWhole == nil)
            #expect(try milliseconds(toAnswer: "ip rule del prio 7110 ipproto udp") < 10_000)
            #expect(host.watch?.pendingWhole != nil)
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }

    @Test func nothingWakesWhileNothingHappens() async {
        await #expect(processExitsWith: .success) {
            let fixture = Fixture()
            let host = try fixture.host()
            let loop = try EventLoop()
            try host.raise(try fixture.request(host), sandbox: try makeNamespace())
            try host.watch(on: loop) { _ in Issue.record("news while nothing happened") }
            // The kernel tells of a link that has just come up a little later; after that it has nothing to tell.
            var isQuiet = false
            for _ in 0..<5 where !isQuiet {
                let start = Moment.now
                try loop.turn(timeout: 1000)
                isQuiet = Moment.now.milliseconds(since: start) >= 990
            }
            #expect(isQuiet)
            host.stopWatching()
            try host.lower()
            fixture.remove()
        }
    }
}
