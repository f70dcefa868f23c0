// The tunnel: carries out what the state machine asks for, on the host's network and through the engine host.

internal import Addressing
internal import Commands
internal import EngineHost
internal import Linux
internal import Logging
internal import NetworkPlan
internal import Session
internal import TunnelHost

/// One tunnel and the things it is made of.
///
/// Concurrency: one thread, on the worker's loop. Events that arise while effects are carried out wait in a queue.
final class Tunnel {
    /// Told after every change that can be seen in `status`.
    var onChange: () -> Void = {}
    /// Told when the worker is to end.
    var onExit: () -> Void = {}

    let loop: EventLoop
    let network: HostNetwork
    /// Asked through `ask`.
    let channel: HostChannel
    /// The engine host's pid: this process's child, which is not reaped, so nobody else can have it.
    private let engineHost: Int32
    let memory: SessionMemory
    let accounts: WorkerAccounts
    /// The list of domestic prefixes.
    let domestic: DomesticFile
    let log: Log

    private(set) var session: Session
    private var queue: [SessionEvent] = []
    private var isBusy = false
    /// The number of the latest start of the engine; events of earlier ones are late.
    var generation = 0
    /// The host as it was seen before the tunnel was raised.
    var survey: HostSurvey?
    /// The namespace that came and has not been used yet.
    var namespace: HeldNamespace?
    var engine: (pid: Int32, api: APIReport, profile: String)?
    var since = Int(wallClock())
    var connectedAt: Moment?
    var confirmBy: Int?
    /// Whether everything of ours was there at the last look.
    var isReadBack = false
    /// How often the network under the tunnel changed or was put right: what was proven before is not proven any longer.
    var networkChanges = 0
    /// Other clients on the host, as seen the last time somebody asked.
    var otherClients: [OtherClient] = []
    /// Why domestic traffic does not take the way that was asked for last.
    var domesticFailure: Failure?
    var repaired: [String] = []
    /// When the tunnel was last taken down whole, and what that repaired.
    var lastDisconnect: (at: Moment, repaired: [String])?
    private var channelWatch: EventLoop.Token?
    private var restartTimer: EventLoop.Token?
    /// The generation the engine host was last asked to end, and until when it has time to answer.
    private(set) var stopping: (generation: Int, deadline: EventLoop.Token)?
    private var confirmTimer: EventLoop.Token?
    var connectWaiters: [(Failure?) -> Void] = []
    var disconnectWaiters: [([String]) -> Void] = []
    /// The last reading of both sides.
    var listed: (at: Moment, listing: NetworkListing)?
    var listingWaiters: [([String]) -> Void] = []
    var logWaiters: [(Result<Int32, Failure>) -> Void] = []

    init(
        loop: EventLoop, network: HostNetwork, channel: HostChannel, engineHost: Int32, memory: SessionMemory,
        accounts: WorkerAccounts, domestic: DomesticFile, log: Log
    ) {
        self.loop = loop
        self.network = network
        self.channel = channel
        self.engineHost = engineHost
        self.memory = memory
        self.accounts = accounts
        self.domestic = domestic
        self.log = log
        session = Session()
    }

    /// Cleans up after an earlier worker. Behind a kill switch, which only `disconnect` ends, its tunnel is taken up again,
    /// though somebody may have removed the guard meanwhile.
    /// - Throws: `HostConflict.workerRunning` when it is alive.
    func begin() throws {
        let isClosed = try findClosedKillSwitch()
        if isClosed || memory.wanted?.killSwitch == true {
            let intent = memory.wanted ?? Intent(owner: memory.lastOwner ?? 0, killSwitch: true)
            session = Session(
                blockedFor: intent, reason: Self.workerDied, restoringDomestic: memory.domesticProfile != nil)
            log(
                .warning,
                isClosed
                    ? "the kill switch of an earlier worker is still closed"
                    : "the kill switch of an earlier worker was removed, it is closed again",
                ["owner": "\(intent.owner)"])
        } else {
            memory.forget()
        }
        channelWatch = try loop.watch(channel.descriptor) { [unowned self] _ in hearEngineHost() }
        if memory.wanted != nil {
            handle(.resume(attempt: memory.noteResumption()))
        } else if isClosed {
            // Nothing says whose it was. It is held and watched all the same.
            makeGuard()
        }
    }

    /// Removes what is left but for a closed kill switch; true when there is one.
    private func findClosedKillSwitch() throws -> Bool {
        var isClosed = memory.wanted?.killSwitch == true
        do {
            isClosed = try network.survey().guardLeft == .persistent
            let removed = try network.cleanUp(keepingGuard: isClosed)
            if !removed.isEmpty { log(.notice, "repaired what a worker left", ["objects": "\(removed.count)"]) }
        } catch HostConflict.workerRunning(let pid) {
            throw HostConflict.workerRunning(pid: pid)
        } catch let error as SystemCallError where [.notPermitted, .accessDenied].contains(error.errno) {
            // A file of ours belongs to somebody else: only root can put that right.
            throw error
        } catch {
            // Somebody else has our names or numbers now, or something failed that may pass: whoever connects is told, and
            // only a worker that is there can take up a tunnel.
            log(.warning, "what a worker left cannot be repaired", ["error": "\(error)"])
        }
        return isClosed
    }

    private static let workerDied = Failure(
        .workerDied, "The worker ended while the kill switch was on; nothing leaves this machine but local traffic.",
        remedy:
            "The connection is taken up again unless that has failed too often; trocket-controller disconnect opens the "
            + "network.")

    /// Asks the engine host for something. One that was stopped is woken: what it is asked for must happen.
    func ask(_ call: HostCall) {
        guard channel.send(call.json) else { return engineHostGone() }
        ThisProcess.wake(engineHost)
    }

    /// Stops listening to an engine host that has ended.
    /// - Returns: false when that was known already.
    func forgetEngineHost() -> Bool {
        guard let channelWatch else { return false }
        loop.cancel(channelWatch)
        self.channelWatch = nil
        return true
    }

    /// The engine host ends an engine within 3 s; one that says nothing for so long, in milliseconds, is counted as gone. It
    /// and the engine end with the worker at the latest, stopped or not.
    private static let stopDeadline = 6_000

    private func stopEngine() {
        ask(.stop(generation: generation))
        guard channelWatch != nil else { return }
        waitNoLongerForStop()
        let deadline = loop.after(milliseconds: Self.stopDeadline) { [unowned self] in
            stopping = nil
            log(.error, "the engine host does not end the engine")
            engineHostGone()
        }
        stopping = (generation, deadline)
    }

    /// The engine host has answered, or is gone.
    func waitNoLongerForStop() {
        if let stopping { loop.cancel(stopping.deadline) }
        stopping = nil
    }

    /// Takes in an event and does what follows from it.
    func handle(_ event: SessionEvent) {
        queue.append(event)
        guard !isBusy else { return }
        isBusy = true
        let before = session
        while !queue.isEmpty {
            let event = queue.removeFirst()
            let phase = session.phase
            let effects = session.reduce(event)
            if session.phase != phase {
                entered(session.phase)
                // Told before it is carried out: whoever waits has something to do meanwhile.
                if session.phase.stage != nil { onChange() }
            }
            effects.forEach(perform)
        }
        isBusy = false
        if session != before { onChange() }
        // What follows is waiting, for hours perhaps.
        if session.phase != before.phase, [.connected, .disconnected, .blocked].contains(session.phase.state) {
            ThisProcess.releaseMemory()
        }
    }

    private func entered(_ phase: Phase) {
        if phase.state != .connecting || phase.stage == .engine { since = Int(wallClock()) }
        connectedAt = phase == .connected ? .now : nil
        listed = nil
        if phase != .connected { isReadBack = false }
        var facts = phase.state.rawValue
        if let stage = phase.stage { facts += " (\(stage.rawValue))" }
        log(.info, facts, ["reason": phase.reason?.description ?? "none"])
        if case .disconnected = phase {
            engine = nil
            survey = nil
            namespace = nil
        }
    }

    /// Whether the network is as wanted, and of use.
    var isVerified: Bool { isReadBack && network.diversions.isEmpty }

    /// How long the tunnel has been up, in milliseconds.
    var upMilliseconds: Int { connectedAt.map { Moment.now.milliseconds(since: $0) } ?? 0 }

    private func perform(_ effect: SessionEffect) {
        switch effect {
        case .startEngine: startEngine()
        case .stopEngine: stopEngine()
        case .makeGuard: makeGuard()
        case .makeLink: makeLink()
        case .wireSandbox: ask(.wire(generation: generation))
        case .applyPlan: applyPlan()
        case .applyDomestic: applyDomestic()
        case .askMode: ask(.mode(generation: generation))
        case .forgetDomestic: memory.noteDomestic(nil)
        case .scheduleDomestic(let milliseconds):
            loop.after(milliseconds: milliseconds) { [unowned self] in handle(.domesticDue) }
        case .undo(let keepingGuard): undo(keepingGuard: keepingGuard)
        case .remember(let intent): memory.remember(intent)
        case .forget: memory.forget()
        case .scheduleRestart(let milliseconds):
            if let restartTimer { loop.cancel(restartTimer) }
            restartTimer = loop.after(milliseconds: milliseconds) { [unowned self] in handle(.restartDue) }
        case .cancelRestart:
            if let restartTimer { loop.cancel(restartTimer) }
            restartTimer = nil
        case .scheduleConfirm(let seconds):
            confirmBy = Int(wallClock()) + seconds
            confirmTimer = loop.after(milliseconds: seconds * 1000) { [unowned self] in handle(.confirmDue) }
        case .cancelConfirm:
            if let confirmTimer { loop.cancel(confirmTimer) }
            confirmTimer = nil
            confirmBy = nil
        case .answerConnect(let failure):
            let waiters = connectWaiters
            connectWaiters = []
            waiters.forEach { $0(failure) }
        case .answerDisconnect:
            let waiters = disconnectWaiters
            disconnectWaiters = []
            lastDisconnect = (.now, repaired)
            waiters.forEach { $0(repaired) }
            repaired = []
        case .exit: onExit()
        }
    }
}

/// An owned namespace descriptor behind a reference, for a place that is sometimes empty.
final class HeldNamespace {
    private let descriptor: Descriptor
    init(_ number: Int32) { descriptor = Descriptor(owning: number) }
    var number: Int32 { descriptor.number }
    func duplicate() throws(SystemCallError) -> Descriptor { try descriptor.duplicate() }
}
