// The checks of `doctor`, each by trying the real thing where that is possible.

import Commands
import EngineControl
import ImportReport
import JSON
import Linux
import Messages
import Profiles
import Store
import Transfer

/// All checks, in an order in which the first failure is usually the cause.
struct Examination {
    private let context: Context
    private let report: (Check) -> Void

    init(_ context: Context, report: @escaping (Check) -> Void) {
        self.context = context
        self.report = report
    }

    func run() {
        let hello = service()
        state(hello)
        if let engine = engine(hello) {
            sandbox(engine)
        }
        ruleSets(hello)
        kernel()
        uplink()
        resolvers()
    }

    // MARK: The service

    private func service() -> HelloReport? {
        group()
        do {
            let worker = try context.worker()
            let hello = try worker.hello()
            if hello.version == Program.version {
                report(Check("service", .ok, Messages.workerUsable(hello.version)))
            } else {
                report(
                    Check(
                        "service", .warning, Messages.workerOtherVersion(hello.version, Program.version),
                        remedy: Messages.sameReleaseRemedy))
            }
            tunnel(try worker.status())
            return hello
        } catch {
            report(Check("service", Failure(describing: error)))
            return nil
        }
    }

    private func group() {
        guard context.user != 0 else { return }
        guard let group = Surroundings.group(named: "trocket") else {
            report(Check("group", .warning, Messages.groupMissing, remedy: Messages.groupMissingRemedy))
            return
        }
        if Surroundings.groups.contains(group) {
            report(Check("group", .ok, Messages.groupMember))
        } else {
            // Whether that forbids connecting is for the socket to say.
            report(Check("group", .warning, Messages.groupNotMember, remedy: Messages.notInGroupRemedy))
        }
    }

    private func tunnel(_ status: StatusReport) {
        report(Check("state", .fact, Messages.tunnelState(status.state.rawValue)))
        if status.state != .disconnected, !status.mine, context.user != 0 { report(Check("owner", Failure.notOwner)) }
        if let failure = Failure.reason(status) {
            report(Check("reason", .warning, failure.message, remedy: failure.remedy))
        }
        if let failure = Failure.diverted(status) {
            report(Check("network", failure))
        } else if status.state == .connected, !status.verified {
            report(Check("network", .warning, Messages.notVerified, remedy: Messages.workerLogRemedy))
        }
        if status.isResolverRefusing {
            let text = Messages.resolverRefuses(isStopped: status.dataPath == .redirect)
            report(Check("dns-not-secured", .warning, text, remedy: Messages.resolverRefusesRemedy))
        }
        for exception in status.exceptions { report(Check("not-covered", .fact, exception.text)) }
        for client in status.otherClients {
            report(Check("other-client", .warning, Messages.otherClient(client), remedy: Messages.otherClientRemedy))
        }
    }

    // MARK: The user's state

    private func state(_ hello: HelloReport?) {
        if let hello, hello.userDirectory != context.stateDirectory {
            report(
                Check(
                    "state-elsewhere", .failed,
                    Messages.workerElsewhere(hello.userDirectory, context.stateDirectory),
                    remedy: Messages.workerElsewhereRemedy))
        }
        do {
            let directory = try context.state()
            try directory.requireWritable()
            report(Check("state", .ok, Messages.stateUsable(context.stateDirectory)))
            let state = try directory.load()
            _ = try directory.profile()
            guard let subscription = state.subscription else { throw StoreError.noSubscription }
            report(
                Check("subscription", .ok, Messages.subscriptionUsable(subscription.lines.count, subscription.title)))
            let (choice, gone) = state.chosen()
            if let gone {
                report(Check("line", .failed, Messages.lineGone(gone), remedy: Messages.lineGoneRemedy))
            } else {
                report(Check("line", .fact, Messages.lineChosen(choice.name)))
            }
        } catch {
            report(Check("state", Failure(describing: error)))
        }
    }

    // MARK: The engine

    /// The service's engine is the one that matters; without a service the one found here.
    private func engine(_ hello: HelloReport?) -> EngineBinary? {
        do throws(EngineFailure) {
            let path: String
            if let hello { path = hello.engine } else { path = try EngineBinary.locate(environment: context.variable) }
            guard Surroundings.isExecutable(path) else { throw .missing(searched: [path]) }
            let engine = try EngineBinary(at: path)
            report(Check("engine", .ok, Messages.engineUsable(engine.version.description, path)))
            let wanted = ["with_utls", "with_quic", "with_wireguard", "with_gvisor", "with_clash_api"]
            let lacking = wanted.filter { !engine.capabilities.tags.contains($0) }
            if lacking.contains("with_clash_api") {
                report(
                    Check(
                        "engine-tags", .failed, Messages.engineLacks(lacking), remedy: Messages.engineLacksRemedy))
            } else if !lacking.isEmpty {
                report(
                    Check(
                        "engine-tags", .warning, Messages.engineLacks(lacking), remedy: Messages.engineLacksRemedy))
            }
            return engine
        } catch {
            report(Check("engine", Failure(describing: error)))
            return nil
        }
    }

    /// Lets an engine make a sandbox as it does when connecting, and ends it.
    private func sandbox(_ engine: EngineBinary) {
        do throws(EngineFailure) {
            _ = try ThrowawayEngine(at: engine.path, client: context.client, makesSandbox: true) { access in
                var document = EngineSettings(
                    controlPort: Int(access.controlPort), secret: access.secret, cacheFile: nil
                ).document
                document["network_namespaces"] = [["type": "unshare", "tag": "sandbox", "pid_file": "holder.pid"]]
                document["inbounds"] = [
                    [
                        "type": "mixed", "tag": "probe", "listen": "127.0.0.1",
                        "listen_port": .int(access.inboundPort), "netns": "sandbox",
                    ]
                ]
                document["outbounds"] = [["type": "direct", "tag": "direct"]]
                return document
            }
            report(Check("sandbox", .ok, Messages.sandboxUsable))
        } catch {
            var words = Failure(describing: error).message
            if case .ended(let sentence) = error { words = Text(verbatim: sentence) }
            report(
                Check(
                    "sandbox", .failed, Messages.sandboxUnusable(words),
                    remedy: Messages.workerFailures["user-namespaces-forbidden"]?.remedy))
        }
    }

    private func ruleSets(_ hello: HelloReport?) {
        let given = context.variable("TROCKET_RULE_SETS") ?? ""
        let directory = given.isEmpty ? hello?.ruleSets ?? context.ruleSetDirectory : given
        let missing = ["geosite-cn.srs", "geoip-cn.srs"].map { "\(directory)/\($0)" }.filter {
            !Surroundings.exists($0)
        }
        if missing.isEmpty { report(Check("rule-sets", .ok, Messages.ruleSetsUsable(directory))) }
        for path in missing {
            report(
                Check("rule-sets", .warning, Messages.ruleSetMissing(path), remedy: Messages.ruleSetMissingRemedy))
        }
    }

    // MARK: The kernel and DNS

    private func kernel() {
        if Surroundings.isWritable("/dev/net/tun") {
            report(Check("tun", .ok, Messages.tunUsable))
        } else {
            report(
                Check("tun", .failed, Messages.tunUnusable, remedy: Messages.workerFailures["no-tun"]?.remedy))
        }
        if Surroundings.hasNetfilterSockets {
            report(Check("nftables", .ok, Messages.netfilterUsable))
        } else {
            report(Check("nftables", .warning, Messages.netfilterMissing, remedy: Messages.netfilterRemedy))
        }
    }

    private func uplink() {
        switch DefaultRoute.isThere {
        case true?: report(Check("uplink", .ok, Messages.networkThere))
        case false?: report(Check("uplink", .failed, Messages.noNetwork, remedy: Messages.noNetworkRemedy))
        case nil: break
        }
    }

    private func resolvers() {
        let text = Surroundings.contents(of: "/etc/resolv.conf") ?? ""
        let servers = text.split(separator: "\n").compactMap { line -> String? in
            let words = line.split { $0 == " " || $0 == "\t" }
            return words.count > 1 && words[0] == "nameserver" ? String(words[1]) : nil
        }
        report(Check("dns", .fact, Messages.resolvers(servers)))
        if servers.contains("127.0.0.53") { report(Check("resolved", .fact, Messages.stubResolver)) }
    }
}
