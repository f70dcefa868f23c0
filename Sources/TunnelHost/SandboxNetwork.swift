// Wiring the inside of the sandbox, by the engine host after it has entered the sandbox's namespaces.

internal import Addressing
package import Firewall
internal import Linux
package import Logging
internal import Netlink
package import NetworkPlan

/// What wiring the sandbox came to.
package enum Wiring: Hashable, Sendable {
    case wired
    /// These links are not there yet; call again when they are.
    case waiting([String])
}

/// The inside of a sandbox. Make it after entering the engine's user namespace and network namespace: its sockets belong to
/// the namespace they are made in.
package final class SandboxNetwork {
    private let socket: RouteSocket
    private let nft: Nftables?
    private let log: Log
    private let monitor: ChangeMonitor
    private var isPrepared = false

    /// - Throws: `NetlinkError`.
    package init(log: Log) throws {
        socket = try RouteSocket()
        monitor = try ChangeMonitor()
        nft = Nftables(reachable: netfilterRefusal() == nil)
        self.log = log
    }

    /// Whether this kernel can redirect inside the sandbox; asked before the link exists, so that it can get the right MTU.
    package func checkFirewall() -> FirewallAvailability {
        guard let nft else {
            let reason = netfilterRefusal().map(String.init(describing:)) ?? "no context"
            return .unavailable(reason: "nft cannot be used in the sandbox: \(reason)")
        }
        return nft.check(SandboxPlan(addresses: .preferred, hasNft: true).ruleset ?? "")
    }

    /// Descriptors that become readable when links in the sandbox change; `drain` them, then `wire` again.
    package var descriptors: [Int32] { monitor.descriptors }

    /// Takes what waits on the descriptors.
    package func drain() { _ = monitor.drain() }

    /// Puts the plan in place; what is there already is left. The order is: first what refuses or redirects, then the way in.
    /// What needs no links is put in place while they are on their way.
    /// - Throws: `NetlinkError`, `FirewallError`, `SystemCallError`.
    package func wire(_ plan: SandboxPlan) throws -> Wiring {
        if !isPrepared { try prepare(plan) }
        let links = try socket.linkTable()
        guard let peer = links[plan.peer], let tun = links[plan.tun], let loopback = links[.loopback] else {
            return .waiting([plan.peer, plan.tun].filter { links[$0] == nil }.map(\.description))
        }
        try socket.setLink(loopback, up: true)
        for address in plan.addresses { try socket.add(address, to: peer) }
        try socket.setLink(tun, up: true, mtu: plan.tunMTU)
        try socket.setLink(peer, up: true)
        for neighbour in plan.neighbours { try socket.set(neighbour, on: peer) }
        // Rules first: what comes in by the link must not meet the way back to the host.
        for rule in plan.rules { try socket.add(rule) }
        try socket.add(plan.routes, links: links)
        try readBack(plan)
        log(.info, "wired the sandbox", ["nft": plan.ruleset == nil ? "no" : "yes"])
        return .wired
    }

    private func prepare(_ plan: SandboxPlan) throws {
        if let ruleset = plan.ruleset {
            guard let nft else {
                throw FirewallError(
                    operation: "making table", subject: Reserved.sandboxTable, text: "nft cannot be used in the sandbox"
                )
            }
            try nft.replace(Reserved.sandboxTable, with: ruleset)
        }
        for parameter in plan.parameters { try KernelFile.write("/proc/sys/\(parameter.path)", parameter.value) }
        isPrepared = true
    }

    private func readBack(_ plan: SandboxPlan) throws {
        let names = Dictionary(uniqueKeysWithValues: try socket.linkTable().map { ($0.value, $0.key) })
        for family in Set(plan.routes.map(\.family)).sorted() {
            let routes = Set(try socket.routes(family).compactMap { $0.planned(names: names) })
            if let missing = plan.routes.first(where: { $0.family == family && !routes.contains($0) }) {
                throw NetlinkError("reading back route", missing.description, .noSuchFile)
            }
            let rules = Set(try socket.rules(family).compactMap(\.planned))
            if let missing = plan.rules.first(where: { $0.family == family && !rules.contains($0) }) {
                throw NetlinkError("reading back rule", missing.description, .noSuchFile)
            }
        }
    }

    /// What the kernel has inside, a line each, as `ip` and `nft` write it.
    package func snapshot(_ plan: SandboxPlan) throws -> [String] {
        let names = Dictionary(uniqueKeysWithValues: try socket.linkTable().map { ($0.value, $0.key) })
        var lines = try socket.links().map { "link \($0.name) \($0.isUp ? "up" : "down") mtu \($0.mtu)" }
        lines += try socket.addresses().map {
            "address \($0.address)/\($0.prefix.length) dev \(names[$0.index]?.description ?? "?")"
        }
        for family in AddressFamily.allCases {
            let dash = family == .ipv4 ? "" : " -6"
            lines += try socket.rules(family).compactMap(\.planned).map { "rule\(dash) \($0)" }
            lines += try socket.routes(family).filter { $0.table != .local }.compactMap { $0.planned(names: names) }.map
            {
                "route\(dash) \($0)"
            }
        }
        if plan.ruleset != nil, let listing = try nft?.listing(Reserved.sandboxTable) {
            lines += listing.split(separator: "\n").map { "nft " + $0.map { $0 == "\t" ? "  " : String($0) }.joined() }
        }
        return lines
    }
}
