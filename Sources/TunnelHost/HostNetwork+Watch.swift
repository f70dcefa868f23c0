// Hearing of changes on the host and answering them: repairs within 250 ms, never at full speed. What holds the traffic in
// comes first; the thousands of domestic prefixes, which only save the engine work, are seen to afterwards.

internal import Addressing
package import Linux
internal import Logging
internal import Netlink
internal import NetworkPlan

/// A way out of the host: a default route of the main table.
package struct Uplink: Hashable, Sendable {
    /// The link's index; routes of a link that was replaced differ.
    package let link: Int32?
    /// The gateway as text, if any.
    package let gateway: String?
}

/// What happened on the host, and what was done about it.
package struct NetworkReport {
    /// What was put right.
    package var repair = Repair()
    /// True when the networks the host is on changed; the plan has followed.
    package var onLinkChanged = false
    /// True when the default routes changed: connections over the old one are dead.
    package var uplinkChanged = false
    /// The default routes now.
    package var uplinks: Set<Uplink> = []
    /// True when the host's resolver is led otherwise than before.
    package var dnsChanged = false
    /// True when traffic is diverted, or no longer, otherwise than before.
    package var diversionsChanged = false
    /// True when an address of the host is gone.
    package var addressGone = false
    /// True when the machine was suspended so long that others have forgotten its connections.
    package var hasSlept = false
    /// Why it could not be put right.
    package var failure: (any Error)?

    /// Whether what a request proved before says nothing of the next one.
    package var outdatesProofs: Bool {
        !repair.drifts.isEmpty || repair.needsWiring || onLinkChanged || uplinkChanged || dnsChanged
            || diversionsChanged || addressGone || hasSlept
    }
}

extension HostNetwork {
    /// A running watch.
    struct Watch {
        let loop: EventLoop
        let tokens: [EventLoop.Token]
        let handler: (NetworkReport) -> Void
        /// Nil where no resolver has ever run.
        let resolver: DirectoryWatch?
        var resolverChanged = false
        /// The answer to news that is to come.
        var pending: EventLoop.Token?
        var answered: Moment?
        /// The look at everything, domestic prefixes too, that is to come.
        var pendingWhole: EventLoop.Token?
        var answeredWhole: Moment?
        /// The answer that comes without news, as the last one failed.
        var pendingRetry: EventLoop.Token?
        /// Answers in quick succession.
        var inARow = 0
        /// Answers in a row that could not put things right.
        var failures = 0
        var uplinks: Set<Uplink>
        /// The addresses of the host.
        var addresses: Set<IPAddress> = []
        /// Since when there has been no way out.
        var cutOff: Moment?
        /// How long the machine has slept, in milliseconds.
        var asleep: Int
    }

    /// The least time between two answers, in milliseconds: short at first, as `ip route flush` comes back for what was
    /// repaired before it has ended; longer while somebody goes on.
    private static let intervals = [50, 100, 250]
    /// So long after an answer, in milliseconds, the next one is a new matter.
    private static let quiet = 1000
    /// The doublings of the longest interval while things cannot be put right.
    private static let doublings = 4
    /// From the news of changed domestic prefixes to the look at them, in milliseconds: whoever removes thousands of them
    /// has ended by then.
    private static let domesticDelay = 150

    /// Answers changes on the host from now on. Nothing wakes up while nothing changes.
    /// - Parameters:
    ///   - loop: the worker's loop.
    ///   - handler: called after every answer in which something happened.
    package func watch(on loop: EventLoop, handler: @escaping (NetworkReport) -> Void) throws {
        let owesLook = watch?.pending != nil
        stopWatching()
        _ = monitor.drain()
        var tokens = try monitor.descriptors.map { descriptor throws(SystemCallError) in
            try loop.watch(descriptor) { [weak self] _ in self?.noticed() }
        }
        // What others tell the resolver.
        let resolver = try? DirectoryWatch(dnsBackend.directory)
        if let resolver {
            tokens.append(
                try loop.watch(resolver.descriptor.number) { [weak self] _ in
                    resolver.drain()
                    self?.watch?.resolverChanged = true
                    self?.answerSoon()
                })
        }
        let sleep = try ClockWatch()
        tokens.append(
            try loop.watch(sleep.descriptor.number) { [weak self] _ in
                sleep.drain()
                self?.answerSoon()
            })
        // The first changes to come are those of a tunnel on its way up, which is read back at the end: no hurry.
        watch = Watch(
            loop: loop, tokens: tokens, handler: handler, resolver: resolver, answered: .now,
            uplinks: (try? currentUplinks()) ?? [], asleep: asleep())
        var report = NetworkReport()
        resetDeadConnections(&report)
        // News that the watch before had taken and not yet answered.
        if owesLook { answerSoon(orAtOnce: false) }
    }

    /// Whether changes are answered.
    package var isWatching: Bool { watch != nil }

    /// Ends the watch.
    package func stopWatching() {
        guard let watch else { return }
        let timers = [watch.pending, watch.pendingWhole, watch.pendingRetry].compactMap(\.self)
        for token in watch.tokens + timers { watch.loop.cancel(token) }
        self.watch = nil
    }

    private func noticed() {
        let changes = monitor.drain()
        if !changes.isDisjoint(with: [.deadEnd, .firewall]) { answerWholeSoon() }
        if !changes.subtracting([.deadEnd]).isEmpty { answerSoon() }
    }

    /// Answers at once what has happened: somebody asks how things are.
    package func catchUp() {
        guard watch != nil else { return }
        noticed()
        guard let watch, let pending = watch.pending else { return }
        watch.loop.cancel(pending)
        self.watch?.pending = nil
        answer(withDomestic: false)
    }

    /// Takes the news of what this process has just changed. What others changed meanwhile is among it, so if there may be
    /// any of that kind, one more look follows; later, as this may be part of one.
    func takeNewsOfOwnChanges() {
        if !monitor.drain().isDisjoint(with: [.link, .address, .route]) { answerSoon(orAtOnce: false) }
    }

    private func answerSoon(orAtOnce mayBeNow: Bool = true) {
        guard let watch, watch.pending == nil else { return }
        let interval = Self.intervals[min(watch.inARow, Self.intervals.count - 1)]
        let rest = watch.answered.map { interval - Moment.now.milliseconds(since: $0) } ?? 0
        let wait = mayBeNow ? rest : interval
        guard wait > 0 else {
            answer(withDomestic: false)
            return
        }
        self.watch?.pending = watch.loop.after(milliseconds: wait) { [weak self] in
            self?.watch?.pending = nil
            self?.answer(withDomestic: false)
        }
    }

    private func answerWholeSoon() {
        guard let watch, watch.pendingWhole == nil else { return }
        let isNew = watch.answeredWhole.map { Moment.now.milliseconds(since: $0) >= Self.quiet } ?? true
        let delay = isNew ? Self.domesticDelay : Self.domesticDelay * 4
        self.watch?.pendingWhole = watch.loop.after(milliseconds: delay) { [weak self] in
            self?.watch?.pendingWhole = nil
            self?.answer(withDomestic: true)
            self?.watch?.answeredWhole = .now
        }
    }

    private func answer(withDomestic: Bool) {
        guard let before = watch else { return }
        let isNew = before.answered.map { Moment.now.milliseconds(since: $0) >= Self.quiet } ?? true
        watch?.inARow = isNew ? 0 : before.inARow + 1
        var report = examine(knownUplinks: before.uplinks, withDomestic: withDomestic)
        if before.resolverChanged { report.dnsChanged = followResolver() }
        watch?.resolverChanged = false
        watch?.answered = Moment.now
        watch?.uplinks = report.uplinks
        resetDeadConnections(&report)
        tryAgain(after: report, whole: withDomestic)
        // A repair has taken the news of other changes with it.
        if !report.repair.drifts.isEmpty, !withDomestic { answerWholeSoon() }
        if report.outdatesProofs || report.failure != nil { before.handler(report) }
    }

    /// A repair that lost against somebody who removed things at the same time has taken the news of it with it, so nothing
    /// else would wake this. News is answered before that as ever.
    private func tryAgain(after report: NetworkReport, whole: Bool) {
        guard let watch else { return }
        // That the short look is content says nothing of what the whole one could not put right.
        if report.failure == nil, !whole, watch.pendingRetry != nil { return }
        if let retry = watch.pendingRetry { watch.loop.cancel(retry) }
        self.watch?.pendingRetry = nil
        guard report.failure != nil else {
            self.watch?.failures = 0
            return
        }
        self.watch?.failures += 1
        self.watch?.pendingRetry = watch.loop.after(milliseconds: Self.patience(after: watch.failures)) { [weak self] in
            self?.watch?.pendingRetry = nil
            self?.answer(withDomestic: true)
        }
    }

    /// Milliseconds to the next try when so many have failed before the last.
    static func patience(after failures: Int) -> Int { intervals[intervals.count - 1] << min(failures, doublings) }

    /// Puts back what others told the resolver; returns true when it is led otherwise than before.
    private func followResolver() -> Bool {
        let before = dnsProtection
        do { try checkDNS() } catch { log(.error, "cannot lead the resolver", ["error": "\(error)"]) }
        return dnsProtection != before
    }

    /// Looks at everything at once: on-link networks, drift, uplinks.
    /// - Parameter withDomestic: as for `verify`.
    func examine(knownUplinks: Set<Uplink>, withDomestic: Bool = true) -> NetworkReport {
        var report = NetworkReport()
        report.uplinks = knownUplinks
        do {
            report.uplinks = try currentUplinks()
            report.uplinkChanged = report.uplinks != knownUplinks
            if !installed.holdsTheSame(as: .empty) {
                // What holds the traffic in comes back before thousands of prefixes are looked at.
                report.repair = try repair(withDomestic: false)
                if withDomestic { report.repair.add(try repair()) }
            }
            report.onLinkChanged = try followOnLink()
            report.diversionsChanged = try lookForDiversions()
        } catch {
            log(.error, "cannot put the network right", ["error": "\(error)"])
            report.failure = error
        }
        return report
    }

    /// Without a way out, or asleep, for so long, in milliseconds, servers and routers on the way have forgotten a connection.
    private static let forgottenAfter = 30_000

    /// Resets what can only time out, so that it is made anew at once: connections of the engine whose address has gone, and
    /// all of them after a suspend or a long time without a way out.
    private func resetDeadConnections(_ report: inout NetworkReport) {
        guard let before = watch else { return }
        let slept = asleep()
        watch?.asleep = slept
        if slept - before.asleep >= Self.forgottenAfter {
            report.hasSlept = true
            reset("of the engine from before the machine slept", find: engineConnections)
        }
        if before.uplinks.isEmpty {
            watch?.cutOff = before.cutOff ?? clock()
        } else if let since = before.cutOff {
            watch?.cutOff = nil
            if clock().milliseconds(since: since) >= Self.forgottenAfter {
                reset("of the engine from before the network was gone", find: engineConnections)
            }
        }
        guard let present = try? currentAddresses() else { return }
        watch?.addresses = present
        guard !before.addresses.isSubset(of: present) else { return }
        report.addressGone = true
        reset("of the engine whose address is gone", find: deadEngineConnections)
    }

    /// Brings the plan in line with the networks the host is on now.
    private func followOnLink() throws -> Bool {
        guard var request else { return false }
        let seen = try onLinkPrefixes()
        guard seen.accepted != request.onLink else { return false }
        let former = self.request
        request.onLink = seen.accepted
        do { try update(request) } catch {
            // It is wanted as much as before, so the next look tries again.
            self.request = former
            throw error
        }
        return true
    }

    /// The default routes of the main table, both families.
    package func currentUplinks() throws -> Set<Uplink> {
        var uplinks: Set<Uplink> = []
        for family in familiesPresent {
            for route in try socket.routes(family, table: .main) where route.destination.isDefault {
                uplinks.insert(Uplink(link: route.link?.rawValue, gateway: route.gateway?.description))
            }
        }
        return uplinks
    }
}
