// Answering the calls of the command socket: who may what, and what is told to whom.

internal import Addressing
internal import Commands
internal import EngineHost
internal import Firewall
internal import JSON
internal import Linux
internal import Logging
internal import Session
internal import TunnelHost

/// Between the socket and the tunnel.
final class Desk {
    private let tunnel: Tunnel
    private let settings: WorkerSettings
    private let logDirectory: Directory
    private unowned let server: CommandServer

    /// The worker's log, in its runtime directory.
    static let logName = "worker.log"
    /// A reading of the network may be so old, in milliseconds, when many ask at once; and so may a repair.
    private static let freshFor = 50
    private var verifiedAt: Moment?

    init(tunnel: Tunnel, server: CommandServer, settings: WorkerSettings, logDirectory: consuming Directory) {
        self.tunnel = tunnel
        self.server = server
        self.settings = settings
        self.logDirectory = logDirectory
        tunnel.onChange = { [unowned self] in self.server.publish { self.status(for: $0.peer.user) } }
    }

    /// Takes one request in.
    func take(_ request: Request, from client: Client) {
        let user = client.peer.user
        guard client.waiting < CommandProtocol.waitingLimit else { return refuse(request, client, Self.tooManyCalls) }
        switch request.call {
        case .hello: reply(request, client, hello(user).json)
        case .connect(let options): connect(options, request, client)
        case .confirm:
            guard mayCommand(user) else { return refuse(request, client, Self.notOwner) }
            guard tunnel.session.awaitsConfirmation else {
                let isThere = tunnel.session.intent != nil
                return refuse(request, client, isThere ? Self.nothingToConfirm : Self.notConnected)
            }
            tunnel.handle(.confirm)
            reply(request, client, status(for: user).json)
        case .domestic(let isOn, let soon): domestic(isOn, soon, request, client)
        case .disconnect: disconnect(request, client)
        case .status(let network): status(request, client, withNetwork: network)
        case .subscribe:
            reply(request, client, [:])
            client.subscribe(status(for: user))
        case .logs(let source): logs(source, request, client)
        }
    }

    private func reply(_ request: Request, _ client: Client, _ json: JSON) {
        server.answer(client, Reply(id: request.id, ok: json))
    }

    private func refuse(_ request: Request, _ client: Client, _ failure: Failure) {
        server.answer(client, Reply(id: request.id, failure))
    }

    private static let notOwner = Failure(
        .notOwner, "The tunnel belongs to another user of this machine.",
        remedy: "Ask that user to disconnect, or disconnect as root.")
    private static let nothingToConfirm = Failure(
        .nothingToConfirm, "The connection does not wait for a confirmation; it stays.", remedy: nil)
    private static let notConnected = Failure(.notConnected, "There is no connection to confirm.", remedy: nil)
    private static let tooManyCalls = Failure(
        .busy, "Too many calls wait for their answer already.", remedy: "Wait for the answers, then ask again.")
    private static let noTunnel = Failure(
        .notConnected, "There is no tunnel whose domestic traffic could take another way.", remedy: nil)
    private static let busy = Failure(
        .busy, "The tunnel is being taken down just now.", remedy: "Try again in a moment.")

    /// Whether a user may confirm and disconnect: the owner and root, and anyone where no tunnel is wanted.
    private func mayCommand(_ user: UInt32) -> Bool {
        user == 0 || tunnel.session.intent == nil || tunnel.session.intent?.owner == user
    }

    private func hello(_ user: UInt32) -> HelloReport {
        HelloReport(
            version: CommandProtocol.release, stateRoot: settings.stateRoot,
            userDirectory: "\(settings.stateRoot)/users/\(user)", engine: settings.engine, ruleSets: settings.ruleSets)
    }

    // MARK: Connecting

    private func connect(_ options: ConnectOptions, _ request: Request, _ client: Client) {
        let user = client.peer.user
        if let owner = tunnel.session.intent?.owner, owner != user { return refuse(request, client, Self.notOwner) }
        if tunnel.session.phase.state == .disconnecting { return refuse(request, client, Self.busy) }
        guard tunnel.connectWaiters.count < CommandProtocol.waitingLimit else {
            return refuse(request, client, Self.tooManyCalls)
        }
        let killSwitch = options.killSwitch ?? tunnel.memory.killSwitch(of: user)
        // Before anything is remembered: a tunnel that is there stays as it is.
        if killSwitch, let obstacle = tunnel.killSwitchObstacle() { return refuse(request, client, obstacle) }
        let intent = Intent(
            owner: user, killSwitch: killSwitch,
            confirmSeconds: options.confirmSeconds, domesticAllowed: options.domesticAllowed)
        client.waiting += 1
        tunnel.connectWaiters.append { [unowned self] failure in
            client.waiting -= 1
            if let failure { return refuse(request, client, failure) }
            reply(request, client, status(for: user).json)
        }
        tunnel.handle(.connect(intent))
    }

    private func domestic(_ isOn: Bool, _ soon: Bool, _ request: Request, _ client: Client) {
        let user = client.peer.user
        guard let owner = tunnel.session.intent?.owner else { return refuse(request, client, Self.noTunnel) }
        // Not even root: it is the owner's profile that says what is domestic.
        guard owner == user else { return refuse(request, client, Self.notOwner) }
        tunnel.domesticFailure = nil
        tunnel.handle(.domestic(isOn, soon: soon))
        if let failure = tunnel.domesticFailure { return refuse(request, client, failure) }
        reply(request, client, status(for: user).json)
    }

    private func disconnect(_ request: Request, _ client: Client) {
        guard mayCommand(client.peer.user) else { return refuse(request, client, Self.notOwner) }
        // Anyone may ask for a repair where no tunnel is wanted, as often as they like.
        if tunnel.session.phase.state == .disconnected, let last = tunnel.lastDisconnect,
            Moment.now.milliseconds(since: last.at) <= Self.freshFor
        {
            return reply(request, client, DisconnectReport(repaired: last.repaired).json)
        }
        client.waiting += 1
        tunnel.disconnectWaiters.append { [unowned self] repaired in
            client.waiting -= 1
            reply(request, client, DisconnectReport(repaired: repaired).json)
        }
        tunnel.handle(.disconnect)
    }

    // MARK: The state

    /// The state as this user may see it.
    func status(for user: UInt32) -> StatusReport {
        let session = tunnel.session
        var report = StatusReport(state: session.phase.state)
        report.stage = session.phase.stage
        report.reason = session.phase.reason
        report.owner = session.intent?.owner
        report.mine = session.intent?.owner == user
        report.since = tunnel.since
        report.killSwitch = session.intent?.killSwitch ?? tunnel.memory.killSwitch(of: user)
        report.confirmBy = tunnel.confirmBy
        report.engine = tunnel.engine.map { EngineReport(pid: Int($0.pid), restarts: session.restarts) }
        if report.mine || user == 0 { report.api = tunnel.engine?.api }
        report.verified = tunnel.isVerified
        if session.phase == .connected {
            report.diversions = tunnel.network.diversions.map {
                DiversionReport(
                    family: $0.family == .ipv4 ? 4 : 6, onlyNames: $0.onlyNames, link: $0.link, rule: $0.rule)
            }
        }
        report.networkChanges = tunnel.networkChanges
        report.domesticFastPath = tunnel.network.throwsDomestic
        guard let survey = tunnel.survey else { return report }
        let hasGuard = survey.firewall.isAvailable
        report.dataPath = hasGuard ? .redirect : .tun
        report.dns = dns()
        report.notCovered = ["forwarded-traffic", "earlier-connections"] + (hasGuard ? [] : ["bound-sockets"])
        report.otherClients = tunnel.otherClients.map(\.name)
        return report
    }

    /// How names are kept inside the tunnel: `method`, whether that is so now, and a sentence about it.
    private func dns() -> JSON {
        let protection = tunnel.network.dnsProtection
        let (method, isSecured): (JSON, Bool) =
            switch protection {
            case .captured: ("capture", true)
            case .resolved: ("resolved", true)
            case .refused: ("refused", false)
            }
        return [
            "method": method, "secured": .bool(isSecured && tunnel.isVerified),
            "detail": .string(protection.description),
        ]
    }

    private func status(_ request: Request, _ client: Client, withNetwork: Bool) {
        if verifiedAt.map({ Moment.now.milliseconds(since: $0) > Self.freshFor }) ?? true {
            tunnel.verifyNow()
            verifiedAt = .now
        }
        let user = client.peer.user
        guard withNetwork else { return reply(request, client, status(for: user).json) }
        client.waiting += 1
        tunnel.list { [unowned self] listing in
            client.waiting -= 1
            var report = status(for: user)
            report.network = listing
            reply(request, client, report.json)
        }
    }

    // MARK: Logs

    private func logs(_ source: LogSource, _ request: Request, _ client: Client) {
        switch source {
        case .worker:
            guard let file = try? logDirectory.open(Self.logName) else { return refuse(request, client, Self.noLog) }
            answer(request, client, descriptor: file.number)
        case .engine:
            let user = client.peer.user
            // It names every host that was visited.
            guard user == 0 || user == tunnel.memory.lastOwner else { return refuse(request, client, Self.notOwner) }
            client.waiting += 1
            tunnel.openEngineLog { [unowned self] outcome in
                client.waiting -= 1
                switch outcome {
                case .success(let number): answer(request, client, descriptor: number)
                case .failure(let failure): refuse(request, client, failure)
                }
            }
        }
    }

    private func answer(_ request: Request, _ client: Client, descriptor: Int32) {
        server.answer(client, Reply(id: request.id, ok: ["descriptor": true]), descriptor: descriptor)
    }

    private static let noLog = Failure(.noLog, "The worker's log cannot be read.", remedy: nil)
}

extension Tunnel {
    /// Lines of one side at most, so that an answer stays within a frame.
    private static let listingLimit = 200

    /// A reading may be so old, in milliseconds: who asks all the time must not keep the worker from everybody else.
    private static let listingIsFreshFor = 100

    /// Reads both sides from the kernel.
    func list(_ answer: @escaping (NetworkListing) -> Void) {
        if let known = freshListing { return answer(known) }
        guard session.phase == .connected else { return answer(listing(with: [])) }
        listingWaiters.append { [unowned self] sandbox in answer(listing(with: sandbox)) }
        if listingWaiters.count == 1 { ask(.listing) }
    }

    private var freshListing: NetworkListing? {
        guard let listed, Moment.now.milliseconds(since: listed.at) <= Self.listingIsFreshFor else { return nil }
        return listed.listing
    }

    /// All who waited for the same reading of the sandbox get the same reading of the host.
    private func listing(with sandbox: [String]) -> NetworkListing {
        if let known = freshListing { return known }
        let host: [String]
        do { host = try network.snapshot() } catch { host = ["failed: \(error)"] }
        let listing = NetworkListing(
            host: Array(host.prefix(Self.listingLimit)), sandbox: Array(sandbox.prefix(Self.listingLimit)))
        listed = (.now, listing)
        return listing
    }
}
