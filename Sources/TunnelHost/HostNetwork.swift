// The tunnel's part of the host's network: raised, changed, lowered, always as one plan.

package import Addressing
internal import Firewall
package import Linux
package import Logging
internal import Netlink
package import NetworkPlan

/// Owns everything the tunnel has on the host. It must be made and used in the host's network namespace by a thread with
/// CAP_NET_ADMIN.
///
/// Concurrency: one thread. It holds the descriptor of the sandbox's network namespace while a tunnel is up, so that the
/// link outlives a dead engine and traffic is refused instead of leaking; it holds the nft context, so that a guard with
/// `flags owner` lives exactly as long as this object.
package final class HostNetwork {
    let socket: RouteSocket
    let ledger: Ledger
    let log: Log
    /// Nil where nft cannot be used.
    let nft: Nftables?
    /// The socket of `nft`, which alone may change a table with an owner; nil when it could not be found out.
    let netfilter: NetfilterSocket?
    let firewallAbsence: FirewallAvailability
    /// Whether the kernel is known to take a guard.
    var takesGuard = false
    let monitor: ChangeMonitor
    /// What is on the host now, step by step.
    package internal(set) var installed = HostPlan.empty
    /// Whether domestic destinations go past the tunnel now.
    package var throwsDomestic: Bool { !installed.domestic.isEmpty }
    /// What was asked for; nil while nothing is wanted.
    package internal(set) var request: HostPlanRequest?
    /// The sandbox's network namespace, held open.
    var sandbox: HeldDescriptor?
    /// The one before, held open while its link may still be the one that is there.
    private var formerSandbox: HeldDescriptor?
    /// The guard as it was right after it was made, without the elements of its sets.
    var guardMade: Fingerprint?
    /// What its sets of on-link networks held then: nft adds elements of its own.
    var guardOnLink: [AddressFamily: Fingerprint] = [:]
    /// Connections opened before there was a guard could not be reset.
    var keepsConnectionsFromBefore = false
    /// The table of domestic destinations as it was right after it was made; nil while there is none.
    var domesticMade: Fingerprint?
    /// The link was made anew, and nobody has been told yet: what follows may fail.
    var owesWiring = false
    var watch: Watch?
    /// The clock; the tests have one of their own.
    var clock: () -> Moment = { .now }
    /// How long the machine has slept; the tests have their own word on it.
    var asleep: () -> Int = { ClockWatch.asleep }
    let dnsBackend: any DNSBackend
    /// True from the moment the resolver may have been told something.
    var dnsIsSet = false
    /// A resolver that refused, or did not answer, is told again only after this moment.
    var dnsRetry = Moment(nanoseconds: 0)
    /// What the kernel sends elsewhere than into the tunnel, as of the last look.
    package internal(set) var diversions: [Diversion] = []
    /// How the host's DNS is led through the tunnel.
    package internal(set) var dnsProtection = DNSProtection.captured

    /// - Parameters:
    ///   - directory: where the ledger lives.
    ///   - owner: the user that must own the ledger: the worker's.
    ///   - log: for what is changed and repaired.
    /// - Throws: `NetlinkError`, `SystemCallError`.
    package convenience init(ledgerIn directory: consuming Directory, owner: UInt32, log: Log) throws {
        try self.init(ledgerIn: directory, owner: owner, log: log, dnsBackend: ResolvedBackend())
    }

    init(ledgerIn directory: consuming Directory, owner: UInt32, log: Log, dnsBackend: any DNSBackend) throws {
        let ledger = try Ledger(in: directory, owner: owner)
        let refusal = netfilterRefusal()
        socket = try RouteSocket()
        monitor = try ChangeMonitor()
        let before = netfilterSockets()
        nft = Nftables(reachable: refusal == nil)
        let opened = netfilterSockets().subtracting(before)
        netfilter = opened.count == 1 ? opened.first.map(NetfilterSocket.init) : nil
        firewallAbsence = .unavailable(
            reason: "nft cannot be used here: \(refusal.map(String.init(describing:)) ?? "")")
        self.ledger = ledger
        self.log = log
        self.dnsBackend = dnsBackend
    }

    /// Raises the tunnel into a sandbox, or moves it to another one without a gap.
    /// - Parameters:
    ///   - request: what is wanted.
    ///   - sandbox: a descriptor of the sandbox's network namespace; kept until the tunnel is lowered.
    /// - Throws: `HostConflict`, `NetlinkError`, `FirewallError`, `SystemCallError`, `ReadBackError`. What was done until then
    ///   is known and is undone by `lower()`.
    package func raise(_ request: HostPlanRequest, sandbox: consuming Descriptor) throws {
        // The old namespace, and with it the link that holds the traffic in, is let go only after that has been replaced.
        formerSandbox = formerSandbox ?? self.sandbox
        self.sandbox = HeldDescriptor(sandbox)
        try change(to: HostPlanBuilder.plan(request), for: request, replacingLink: installed.link != nil)
        formerSandbox = nil
        if dnsIsSet { try protectDNS() }
    }

    /// Changes what is wanted of a tunnel that is up: kill switch, domestic destinations, on-link networks. Of one that has no
    /// sandbox yet it puts the guard in place and nothing else; where nft is missing that is nothing. What holds the traffic
    /// in for want of a link that could not be replaced stays.
    /// - Throws: as `raise`.
    package func update(_ request: HostPlanRequest) throws {
        var plan = installed.link == nil ? HostPlanBuilder.blocked(request) : HostPlanBuilder.plan(request)
        if installed.link == nil { (plan.routes, plan.rules) = (installed.routes, installed.rules) }
        try change(to: plan, for: request)
    }

    /// Takes everything away that this object put on the host; one failure does not stop the rest.
    /// - Parameter keepingGuard: leaves the guard: the tunnel is gone and nothing may leave.
    /// - Throws: the first failure.
    package func lower(keepingGuard: Bool = false) throws {
        let target =
            keepingGuard ? HostPlan(link: nil, routes: [], rules: [], guardTable: installed.guardTable) : .empty
        var failure: (any Error)?
        // An engine that ends closes them, but over a link that is gone by then.
        reset("through the tunnel", find: connectionsThroughTunnel)
        releaseDNS()
        for step in PlanDiff.steps(from: installed, to: target) {
            do {
                try perform(step)
                installed.record(step)
            } catch {
                log(.error, "cannot undo a change", ["change": "\(step)", "error": "\(error)"])
                failure = failure ?? error
            }
        }
        // A program opens another one at once, which the rules still led into the tunnel.
        reset("through the tunnel", find: connectionsThroughTunnel)
        sandbox = nil
        formerSandbox = nil
        diversions = []
        if !keepingGuard { request = nil }
        _ = monitor.drain()
        try ledger.write(ledgerEntries)
        if let failure { throw failure }
    }

    /// Gets from what is installed to a plan: recorded first, additions before removals, read back at the end.
    func change(to plan: HostPlan, for request: HostPlanRequest, replacingLink: Bool = false) throws {
        self.request = request
        let steps = PlanDiff.steps(from: installed, to: plan, replacingLink: replacingLink)
        guard !steps.isEmpty else { return }
        try ledger.write(ledgerEntries.union(LedgerEntries(plan)))
        for step in steps {
            try perform(step)
            installed.record(step)
        }
        // What we did ourselves is no news; what others did meanwhile shows in the reading.
        takeNewsOfOwnChanges()
        let drifts = try verify()
        guard drifts.isEmpty else { throw ReadBackError(drifts: drifts) }
        try ledger.write(ledgerEntries)
    }

    /// Changes which destinations never enter the tunnel, which has to be up.
    /// - Throws: as `raise`. When they could not be put in place they are all taken away again.
    package func throwDomestic(_ prefixes: [Prefix]) throws {
        guard var request else { return }
        request.domestic = prefixes
        guard installed.link != nil else {
            // Blocked: nothing of it is wanted, and nothing else may change.
            self.request = request
            if !installed.domestic.isEmpty { try perform(.keepDomestic(installed.domestic)) }
            installed.domestic = []
            try refuseDomestic()
            return
        }
        do { try update(request) } catch {
            guard !prefixes.isEmpty else { throw error }
            request.domestic = []
            try update(request)
            throw error
        }
    }
}

/// An owned descriptor behind a reference, for a place that is sometimes empty.
final class HeldDescriptor {
    let descriptor: Descriptor
    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}
