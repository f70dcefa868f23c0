// The tunnel's effects on the host's network.

internal import Addressing
internal import Commands
internal import EngineHost
internal import Firewall
internal import Linux
internal import Logging
internal import Netlink
internal import NetworkPlan
internal import Session
internal import TunnelHost

extension Tunnel {
    /// Looks at the host, unless a tunnel is on it already, and asks the engine host for an engine.
    func startEngine() {
        do {
            let survey = try self.survey ?? lookAtHost()
            guard let intent = session.intent else { return }
            // With the kill switch nothing leaves while the engine is on its way up, either.
            if intent.killSwitch, network.installed.link == nil { try close(survey) }
            generation += 1
            let start = EngineStart(
                generation: generation, owner: intent.owner, addresses: survey.addresses,
                redirects: survey.firewall.isAvailable, hasIPv6: survey.hasIPv6)
            ask(.start(start))
        } catch {
            handle(.engineFailed(failure(error), upMilliseconds: upMilliseconds))
        }
    }

    /// Closes the host for the kill switch that is wanted, before there is a tunnel or while its engine is away.
    func makeGuard() {
        do { try close(try self.survey ?? lookAtHost()) } catch {
            log(.error, "the kill switch could not be closed", ["error": "\(error)"])
            handle(.stepFailed(failure(error)))
        }
    }

    private func close(_ survey: HostSurvey) throws {
        try network.update(request(survey))
        // It may stay for long: it is put back, and follows the networks the host is on.
        if !network.isWatching { try watchNetwork() }
        handle(.guardReady)
    }

    private func watchNetwork() throws {
        try network.watch(on: loop) { [unowned self] report in networkChanged(report) }
    }

    /// Finds out whether the tunnel can be had, and removes what a crash left; the guard of a kill switch stays.
    private func lookAtHost() throws -> HostSurvey {
        let seen = try network.survey()
        if session.intent?.killSwitch == true, let obstacle = Self.obstacle(seen.firewall) { throw obstacle }
        if !seen.leftovers.isEmpty { try network.cleanUp(keepingGuard: session.wasBlocked) }
        for prefix in seen.onLink.refused {
            log(.warning, "a network is too wide to be local", ["network": prefix.description])
        }
        survey = seen
        otherClients = seen.otherClients
        return seen
    }

    /// Why there can be no kill switch; nil when there can. A tunnel that is there was made with what was seen then.
    func killSwitchObstacle() -> Failure? { Self.obstacle(survey?.firewall ?? network.checkFirewall()) }

    private static func obstacle(_ firewall: FirewallAvailability) -> Failure? {
        guard case .unavailable(let reason) = firewall else { return nil }
        return Failure(
            .noFirewall, "The kill switch cannot be had: \(reason).",
            remedy: "Connect without the kill switch; or load nf_tables, nft_ct and nft_reject_inet, disconnect and "
                + "connect again.")
    }

    private func request(_ survey: HostSurvey) -> HostPlanRequest {
        var request = survey.request(
            engine: UserID(rawValue: accounts.engine), killSwitch: session.intent?.killSwitch ?? false,
            sandboxHasNft: survey.firewall.isAvailable)
        request.user = session.intent.map { UserID(rawValue: $0.owner) }
        request.resolver = accounts.resolver.map(UserID.init(rawValue:))
        // The watch keeps the networks the host is on up to date.
        if let known = network.request {
            request.onLink = known.onLink
            if session.intent?.domestic == true { request.domestic = known.domestic }
        }
        return request
    }

    /// Raises the whole plan into the namespace that has come.
    func makeLink() {
        guard let survey, let namespace else { return }
        self.namespace = nil
        do {
            let wasUp = network.installed.link != nil
            try network.raise(request(survey), sandbox: try namespace.duplicate())
            if !wasUp { try watchNetwork() }
            handle(.linkReady)
        } catch {
            handle(.stepFailed(failure(error)))
        }
    }

    /// Brings the plan in line with what is wanted, and reads it back.
    func applyPlan() {
        guard let survey else { return }
        do {
            try network.update(request(survey))
            let repair = try network.repair()
            try network.lookForDiversions()
            isReadBack = true
            if network.dnsProtection != .resolved { try network.protectDNS() }
            if repair.needsWiring { ask(.wire(generation: generation)) }
            handle(.planApplied)
        } catch {
            handle(.stepFailed(failure(error)))
        }
    }

    /// Sends domestic traffic past the engine or into it. Where it cannot go past, it goes into it.
    func applyDomestic() {
        domesticFailure = nil
        do {
            try network.throwDomestic(session.intent?.domestic == true ? domestic.prefixes() : [])
        } catch {
            domesticFailure = failure(error)
            log(.warning, "domestic traffic does not take the way that is wanted", ["error": "\(error)"])
            isReadBack = ((try? network.verify()) ?? [.guardMissing]).isEmpty
        }
        memory.noteDomestic(network.throwsDomestic ? engine?.profile : nil)
        ThisProcess.releaseMemory()
        onChange()
    }

    /// Brings the host back to what it was.
    func undo(keepingGuard: Bool) {
        network.stopWatching()
        do { try network.lower(keepingGuard: keepingGuard) } catch {
            repaired.append("failed: \(error)")
            log(.error, "the tunnel could not be taken down whole", ["error": "\(error)"])
        }
        do { repaired += try network.cleanUp(keepingGuard: keepingGuard) } catch {
            repaired.append("failed: \(error)")
            log(.error, "what was left could not be removed", ["error": "\(error)"])
        }
        handle(.undone)
    }

    private func networkChanged(_ report: NetworkReport) {
        if report.outdatesProofs { networkChanges += 1 }
        if let failure = report.failure {
            isReadBack = false
            log(.error, "the network could not be put right", ["error": "\(failure)"])
        } else if session.phase == .connected {
            isReadBack = true
        }
        if report.repair.needsWiring { ask(.wire(generation: generation)) }
        if !report.repair.drifts.isEmpty { ThisProcess.releaseMemory() }
        if report.uplinkChanged { log(.notice, "the way out of this machine changed") }
        onChange()
    }

    /// Reads the plan back, for `status`.
    func verifyNow() {
        guard session.phase == .connected else { return }
        network.catchUp()
        otherClients = (try? network.otherClients()) ?? otherClients
        // What cannot be read is not verified.
        let drifts = try? network.verify(withDomestic: false)
        isReadBack = drifts?.isEmpty == true && (try? network.lookForDiversions()) != nil
        _ = try? network.checkDNS()
    }

    /// An error of any module as a failure for people.
    private func failure(_ error: any Error) -> Failure {
        switch error {
        case let failure as Failure: return failure
        case let conflict as HostConflict:
            let isSecond: Bool
            if case .workerRunning = conflict { isSecond = true } else { isSecond = false }
            return Failure(
                isSecond ? .secondWorker : .taken, "Cannot connect: \(conflict.problem).",
                remedy: conflict.remedy.asSentence)
        case let drift as ReadBackError: return Failure(.notVerified, "\(drift)".asSentence)
        case let error as NetlinkError:
            return Failure(
                .hostNetwork,
                "The host's network could not be set up: \(error.operation) \(error.subject): "
                    + "\(error.kernelText ?? error.errno.description).",
                remedy: error.remedy?.asSentence)
        case let error as FirewallError:
            return Failure(
                .hostNetwork, "The kill-switch table could not be set up: \(error.text).",
                remedy: error.remedy?.asSentence)
        default:
            return Failure(
                .hostNetwork, "The host's network could not be set up: \(error).",
                remedy: "Look at the worker's log: trocket-controller logs --source worker.")
        }
    }
}

extension String {
    /// With a capital letter and a full stop.
    fileprivate var asSentence: String {
        let text = prefix(1).uppercased() + dropFirst()
        return text.hasSuffix(".") ? text : text + "."
    }
}
