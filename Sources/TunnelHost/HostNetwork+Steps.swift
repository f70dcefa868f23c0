// Carrying out one step of a plan on the host.

internal import Addressing
internal import Linux
internal import Logging
internal import Netlink
internal import NetworkPlan

extension HostNetwork {
    /// Carries out one step. What is there already, or gone already, is no error.
    func perform(_ step: PlanStep) throws {
        switch step {
        case .setGuard(let table): try setGuard(table)
        case .removeGuard: try removeGuard()
        case .addLink(let plan): try addLink(plan)
        case .removeLink(let name): try socket.removeLink(name)
        case .addRoutes(let routes): try socket.add(routes, links: try socket.linkTable())
        case .removeRoutes(let routes): try socket.remove(routes, links: try socket.linkTable())
        case .addRule(let rule): try socket.add(rule)
        case .removeRule(let rule): try socket.remove(rule)
        case .acceptDomestic(let prefixes): try acceptDomestic(prefixes)
        case .refuseDomestic: try refuseDomestic()
        case .throwDomestic(let prefixes):
            // Known before it is done: half of it has to be undone, too.
            installed.domestic = prefixes
            try socket.addThrown(prefixes, table: Reserved.tunnelTable)
        case .keepDomestic(let prefixes):
            do { try socket.removeThrown(prefixes, table: Reserved.tunnelTable) } catch {
                // What cannot be led into the tunnel does not leave beside it either.
                try refuseDomestic()
                throw error
            }
        }
        log(.debug, "changed the host", ["step": step.summary])
    }

    /// Makes the link whole; of one that fails half-way nothing is left.
    private func addLink(_ plan: LinkPlan) throws {
        do throws(NetlinkError) { try addPair(plan) } catch {
            guard error.errno == .exists else { throw error }
            if let conflict = try takenLink(plan.name) { throw conflict }
            // Our own, of an attempt that could not even be undone.
            try socket.removeLink(plan.name)
            try addPair(plan)
        }
        do { try complete(plan) } catch {
            do { try socket.removeLink(plan.name) } catch {
                log(.warning, "cannot undo a change", ["change": "link \(plan.name) added", "error": "\(error)"])
            }
            throw error
        }
    }

    private func addPair(_ plan: LinkPlan) throws(NetlinkError) {
        try socket.addVeth(plan, namespace: sandbox?.descriptor.number, alias: WorkerMark.current?.alias ?? "")
    }

    private func complete(_ plan: LinkPlan) throws {
        guard let link = try socket.link(named: plan.name) else {
            throw NetlinkError("looking up link", plan.name.description, .noSuchDevice)
        }
        try setIPv6(of: plan.name)
        for address in plan.addresses { try socket.add(address, to: link.index) }
        try socket.setLink(link.index, up: true)
        for neighbour in plan.neighbours { try socket.set(neighbour, on: link.index) }
    }

    /// How IPv6 is to be on our link, whatever the host has set for new ones or others have set since.
    func setIPv6(of name: InterfaceName) throws {
        // Hosts that switch IPv6 off for new links do not mean ours: without it IPv6 would not be taken in.
        let parameters = "/proc/sys/net/ipv6/conf/\(name)/"
        let absence = parameters + "disable_ipv6"
        if try KernelFile.read(absence) == "1" { try KernelFile.write(absence, "0") }
        // Who speaks from inside the sandbox must not give this host routes and addresses by router advertisements.
        let listening = parameters + "accept_ra"
        if try KernelFile.read(listening) != nil { try KernelFile.write(listening, "0") }
        // No link-local address: nothing needs one here, and its duplicate detection would wake everyone a second later.
        let generation = parameters + "addr_gen_mode"
        if try KernelFile.read(generation) != nil { try KernelFile.write(generation, "1") }
    }

    /// Who took the link's name between the survey and now; nil when it is this worker's own.
    private func takenLink(_ name: InterfaceName) throws -> HostConflict? {
        guard let link = try socket.link(named: name) else { return nil }
        let mark = link.alias.flatMap(WorkerMark.init(alias:))
        if let mark, mark == WorkerMark.current { return nil }
        if let mark, mark.isAlive { return .workerRunning(pid: mark.pid) }
        return .linkTaken(name, kind: link.kind ?? "hardware")
    }
}

extension PlanStep {
    /// The step in a few words, for the log.
    var summary: String {
        switch self {
        case .setGuard(let table): "guard set, lifetime \(table.lifetime)"
        case .removeGuard: "guard removed"
        case .addLink(let link): "link \(link.name) added"
        case .removeLink(let name): "link \(name) removed"
        case .addRoutes(let routes): routes.count == 1 ? "route added: \(routes[0])" : "\(routes.count) routes added"
        case .removeRoutes(let routes):
            routes.count == 1 ? "route removed: \(routes[0])" : "\(routes.count) routes removed"
        case .acceptDomestic(let prefixes): "\(prefixes.count) domestic prefixes pass the guard"
        case .refuseDomestic: "no domestic prefix passes the guard"
        case .throwDomestic(let prefixes): "\(prefixes.count) domestic prefixes go past the tunnel"
        case .keepDomestic(let prefixes): "\(prefixes.count) domestic prefixes go into the tunnel"
        case .addRule(let rule): "rule added: \(rule)"
        case .removeRule(let rule): "rule removed: \(rule)"
        }
    }
}
