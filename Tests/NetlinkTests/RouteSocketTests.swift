// Links, addresses, routes and rules made through the socket, compared with what `ip` shows; each test in a namespace of
// its own.

import Addressing
import CNetlink
import Linux
import NamespaceSupport
import NetworkPlan
import Testing

@testable import Netlink

private let examplePlan = HostPlanBuilder.plan(
    HostPlanRequest(
        engine: UserID(rawValue: 61002), addresses: .preferred,
        onLink: [Prefix("203.0.113.0/24")!, Prefix("2001:db8:1::/64")!], guardLifetime: nil))

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct RouteSocketTests {
    @Test func everyRuleLooksAsPlannedAndReadsBack() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let socket = try RouteSocket()
            for rule in PlanDiff.installOrder(examplePlan.rules) { #expect(try socket.add(rule) == .added) }
            for rule in examplePlan.rules { #expect(try socket.add(rule) == .existed) }
            for family in AddressFamily.allCases {
                let command = family == .ipv4 ? "ip rule" : "ip -6 rule"
                let shown = lines(command).filter { !$0.hasPrefix("0:") && !$0.hasPrefix("3276") }
                let planned = examplePlan.rules.filter { $0.family == family }
                // Rules of one priority are shown in the order they were added.
                #expect(shown.sorted() == planned.map(\.description).sorted())
                #expect(Set(try socket.rules(family).compactMap(\.planned)).isSuperset(of: planned))
            }
            for rule in examplePlan.rules { #expect(try socket.remove(rule) == .removed) }
            for rule in examplePlan.rules { #expect(try socket.remove(rule) == .absent) }
            #expect(lines("ip rule").count == 3)
            #expect(lines("ip -6 rule").count == 2)
        }
    }

    @Test func foreignRulesAreSeenButNotTakenForOurs() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            shell("ip rule add prio 7110 oif lo lookup 7101; ip rule add prio 7130 not from 10.0.0.0/8 lookup 7100")
            shell("ip rule add prio 50 fwmark 0x10/0xf0 lookup 52; ip rule add prio 60 tos 0x10 lookup 52")
            shell("ip rule add prio 70 dport 10-20 lookup 52; ip rule add prio 80 unreachable")
            let rules = try RouteSocket().rules(.ipv4).filter {
                $0.priority.rawValue < 32766 && $0.priority.rawValue > 0
            }
            #expect(rules.count == 6)
            #expect(rules.allSatisfy { $0.planned == nil })
            #expect(rules.first { $0.priority.rawValue == 50 }?.table == RouteTable(rawValue: 52))
        }
    }

    @Test func aVethPairReachesIntoAnotherNamespace() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let sandbox = try makeNamespace()
            let socket = try RouteSocket()
            let plan = try #require(examplePlan.link)
            try socket.addVeth(plan, namespace: sandbox.number, alias: "a note")
            let link = try #require(try socket.link(named: plan.name))
            for address in plan.addresses {
                #expect(try socket.add(address, to: link.index) == .added)
                #expect(try socket.add(address, to: link.index) == .existed)
            }
            try socket.setLink(link.index, up: true)
            #expect(link.kind == "veth" && link.alias == "a note" && link.mtu == 1500)
            #expect(link.hardwareAddress == Reserved.linkHardwareAddress)
            let inner = try inside(sandbox) { shell("ip -o link show uplink0") }
            #expect(inner.contains("link/ether 02:74:72:6f:63:02"))
            #expect(shell("ip -o link show uplink0").contains("does not exist"))
            #expect(lines("ip -o -4 addr show trocket0").first?.contains("198.19.77.1/30") == true)
            // Without duplicate detection the address is usable at once.
            #expect(lines("ip -o -6 addr show trocket0 tentative").allSatisfy { !$0.contains("fd74") })
            let seen = try socket.addresses().filter { $0.index == link.index && $0.isGlobal }
            #expect(Set(seen.map(\.prefix)) == Set(plan.addresses.map(\.prefix)))
            #expect(throws: NetlinkError.self) { try socket.addVeth(plan, namespace: sandbox.number, alias: "") }
            #expect(try socket.remove(plan.addresses[0], from: link.index) == .removed)
            #expect(try socket.remove(plan.addresses[0], from: link.index) == .absent)
            #expect(try socket.removeLink(plan.name) == .removed)
            #expect(try socket.removeLink(plan.name) == .absent)
            #expect(try socket.link(named: plan.name) == nil)
        }
    }

    @Test func routesReadBackAsPlanned() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let sandbox = try makeNamespace()
            let socket = try RouteSocket()
            let plan = try #require(examplePlan.link)
            try socket.addVeth(plan, namespace: sandbox.number, alias: "")
            let index = try #require(try socket.link(named: plan.name)).index
            for address in plan.addresses { try socket.add(address, to: index) }
            try inside(sandbox) { _ = shell("ip link set uplink0 up") }
            try socket.setLink(index, up: true)
            var routes = examplePlan.routes
            routes += [Prefix("1.0.1.0/24")!, Prefix("2001:250::/35")!].map {
                Route($0, .thrown, table: Reserved.tunnelTable)
            }
            routes += AddressFamily.allCases.map {
                Route(.all($0), .unreachable, table: Reserved.tunnelTable, metric: 7_100_000)
            }
            routes += [
                Route(.all(.ipv4), .local(.loopback), table: RouteTable(rawValue: 100)),
                Route(.all(.ipv6), .local(.loopback), table: RouteTable(rawValue: 100)),
                Route(.all(.ipv4), .device(plan.name), table: RouteTable(rawValue: 101)),
                Route(.all(.ipv6), .device(plan.name), table: RouteTable(rawValue: 101)),
            ]
            #expect(try socket.add(routes, links: try socket.linkTable()) == routes.count)
            #expect(try socket.add(routes, links: try socket.linkTable()) == 0)
            let names = Dictionary(uniqueKeysWithValues: try socket.linkTable().map { ($0.value, $0.key) })
            var found: Set<Route> = []
            for family in AddressFamily.allCases {
                found.formUnion(try socket.routes(family).compactMap { $0.planned(names: names) })
            }
            for route in routes { #expect(found.contains(route), "\(route)") }
            #expect(lines("ip route show table 7101") == ["default via 198.19.77.2 dev trocket0"])
            #expect(lines("ip route show table 7100").contains("throw 1.0.1.0/24"))
            #expect(lines("ip route show table 100").first?.hasPrefix("local default dev lo") == true)
            #expect(try socket.routes(.ipv4, table: RouteTable(rawValue: 4711)) == [])
            #expect(try socket.remove(routes, links: try socket.linkTable()) == routes.count)
            #expect(try socket.remove(routes, links: try socket.linkTable()) == 0)
            #expect(lines("ip route show table 7100; ip -6 route show table 7100").isEmpty)
        }
    }

    @Test func refusalsCarryTheKernelsOwnWords() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let socket = try RouteSocket()
            let route = Route(
                .all(.ipv4), .gateway(IPAddress("192.0.2.1")!, .loopback), table: Reserved.tunnelTable)
            let error = #expect(throws: NetlinkError.self) { try socket.add([route], links: try socket.linkTable()) }
            #expect(error?.kernelText == "Nexthop has invalid gateway")
            #expect(error?.description.contains("default via 192.0.2.1 dev lo table 7100") == true)
            let missing = Route(.all(.ipv4), .device(Reserved.link), table: Reserved.tunnelTable)
            #expect(throws: NetlinkError.self) { try socket.add([missing], links: try socket.linkTable()) }
        }
    }

    @Test func sixThousandDomesticRoutesComeAndGo() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let socket = try RouteSocket()
            let routes = (0..<6163).map { number in
                let address = IPv4Address(rawValue: 0x0100_0000 + UInt32(number) << 10)
                return Route(Prefix(containing: .ipv4(address), length: 22)!, .thrown, table: Reserved.tunnelTable)
            }
            #expect(try socket.add(routes, links: [:]) == 6163)
            #expect(try socket.routes(.ipv4, table: Reserved.tunnelTable).count == 6163)
            // Every one refused, and every refusal heard: the answers fit the receive buffer.
            #expect(try socket.add(routes, links: [:]) == 0)
            #expect(try socket.remove(routes, links: [:]) == 6163)
        }
    }

    @Test func aDisturbedListIsReadAgain() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let socket = try RouteSocket()
            shell(
                "for i in $(seq 1000); do echo address add 10.0.$((i / 250)).$((i % 250))/32 dev lo; done | ip -batch -"
            )
            var header = ifaddrmsg()
            header.ifa_family = AddressFamily.ipv4.number
            var found = 0
            var passes = 0
            try socket.dump(Request(Int(RTM_GETADDR), flags: 0, header), "listing", "addresses") { _ in
                found += 1
                guard found == 1 else { return }
                passes += 1
                if passes == 1 { shell("ip address add 192.0.2.1/32 dev lo") }
            } restart: {
                found = 0
            }
            // With the loopback's own.
            #expect(passes == 2 && found == 1002)
        }
    }

    @Test func changesAreHeard() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let monitor = try ChangeMonitor()
            #expect(monitor.drain() == [])
            let socket = try RouteSocket()
            let rule = RoutingRule(.ipv6, Reserved.endRule, action: .nop)
            try socket.add(rule)
            #expect(monitor.drain() == [.rule])
            shell("nft add table inet other")
            #expect(monitor.drain() == [.firewall])
            shell("ip addr add 192.0.2.1/24 dev lo")
            #expect(monitor.drain() == [.address, .route])
            shell("ip route add throw 192.0.3.0/24 table 7100; ip -6 route add blackhole 2001:db8::/32")
            #expect(monitor.drain() == [.deadEnd])
            shell("ip link add br9 type bridge")
            #expect(monitor.drain().contains(.link))
            #expect(monitor.drain() == [])
        }
    }

    @Test func aSocketStaysInItsNamespace() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let sandbox = try makeNamespace()
            let inner = try inside(sandbox) {
                shell("ip link add inner type bridge")
                return InnerSocket(socket: try RouteSocket())
            }
            #expect(try inner.socket.link(named: InterfaceName("inner")!) != nil)
            #expect(try RouteSocket().link(named: InterfaceName("inner")!) == nil)
        }
    }
}

private final class InnerSocket {
    let socket: RouteSocket
    init(socket: consuming RouteSocket) { self.socket = socket }
}
