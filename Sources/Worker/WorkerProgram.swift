// The program from its first line: root phase, engine host forked off, privileges dropped, the loop.

internal import Commands
internal import EngineHost
internal import Firewall
internal import Linux
internal import Logging
internal import Netlink
internal import Privileges
internal import Session
internal import TunnelHost

/// The program `trocket-tunnel`.
package enum WorkerProgram {
    /// Runs the program.
    /// - Parameter arguments: those behind the program's name.
    /// - Returns: its exit status (sysexits.h).
    package static func run(_ arguments: [String]) -> Int32 {
        do {
            switch try command(arguments) {
            case .help: return say(WorkerCommand.usage)
            case .version: return say("trocket-tunnel \(CommandProtocol.release)\n")
            case .serve(let flags, let file): try serve(flags, file)
            }
            return 0
        } catch let failure as StartFailure {
            return fail(failure.description, failure.status)
        } catch let conflict as HostConflict {
            return fail(conflict.description, 69)
        } catch let error as SystemCallError where [.notPermitted, .accessDenied].contains(error.errno) {
            return fail("\(error)", 77)
        } catch  where error is SystemCallError || error is NetlinkError || error is FirewallError {
            // What the kernel refuses now it may grant in a moment: this status alone has the service manager try again.
            return fail("\(error)", 71)
        } catch {
            return fail("\(error)", 78)
        }
    }

    /// Prints what was asked for; a result that is lost is a failure (EX_IOERR).
    private static func say(_ text: String) -> Int32 {
        do { try writeStandardOutput(text) } catch { return fail("\(error)", 74) }
        return 0
    }

    private static func fail(_ text: String, _ status: Int32) -> Int32 {
        writeStandardError("trocket-tunnel: \(text)\n")
        return status
    }

    private static func command(_ arguments: [String]) throws -> WorkerCommand {
        do { return try WorkerCommand(arguments: arguments) } catch { throw StartFailure.usage("\(error)") }
    }

    private static func serve(_ flags: [WorkerCommand.Flag], _ file: String?) throws {
        guard Surroundings.user == 0 else {
            throw StartFailure.notPermitted(
                "it must be started by root, and gives that up at once: sudo trocket-tunnel, or systemctl start "
                    + "trocket-tunnel.socket")
        }
        let inherited = try Inheritance.shed(keepingSockets: true)
        ignoreBrokenPipes()
        let settings = try RootPhase.settings(flags, file: file)
        let accounts = try WorkerAccounts(settings)
        try TrustedPath.check(settings.engine)
        try RootPhase.makeDirectories(settings, accounts)
        let listener = try RootPhase.socket(inherited.sockets, settings, accounts)
        // The engine's limit; the worker lowers its own.
        try ThisProcess.limit(.openFiles, to: 65_536)

        let pair = try SocketPair()
        let ours = try pair.first.duplicate()
        let theirs = pair.second.number
        let parent = ThisProcess.pid
        let child = try ForkedChild.run {
            EngineHostPhase.run(theirs, settings, accounts, parent: parent)
        }
        _ = consume pair
        try WorkerPhase.run(listener, ours, settings, accounts, engineHost: child)
    }
}

/// The engine host's part, in the forked copy.
enum EngineHostPhase {
    static func run(_ socket: Int32, _ settings: WorkerSettings, _ accounts: WorkerAccounts, parent: Int32) -> Int32 {
        do {
            ThisProcess.setName("trocket-engines")
            ThisProcess.offerToMemoryKiller()
            try Inheritance.closeAll(but: socket)
            ThisProcess.beginGroup()
            try Privileges.drop(to: accounts.engine, group: accounts.engineGroup, keeping: [])
            // After the change of user, for the kernel forgets it then.
            try ForkedChild.dieWithParent(parent)
            // Before Landlock, which lets nobody be signalled but what this process starts. A hostile engine can see to it that
            // it outlives a worker that was killed, and the guard lets its user out.
            Orphans.end()
            let configuration = EngineHostConfiguration(
                engine: settings.engine, stateRoot: settings.stateRoot, runDirectory: settings.runDirectory,
                ruleSets: settings.ruleSets)
            try Landlock.enter(configuration.rules)
            try DeniedCalls.refuse(DeniedCalls.engineHost)
            let host = try EngineHost(
                socket: Descriptor(owning: socket), configuration: configuration, user: accounts.engine)
            try host.run()
            return 0
        } catch {
            writeStandardError("trocket-tunnel: the engine host cannot go on: \(error)\n")
            return 1
        }
    }
}

/// The worker's part.
enum WorkerPhase {
    /// Open files the worker may have: clients, namespaces, netlink.
    private static let openFiles: UInt64 = 256

    static func run(
        _ listener: consuming Descriptor, _ channel: consuming Descriptor, _ settings: WorkerSettings,
        _ accounts: WorkerAccounts, engineHost: Int32
    ) throws {
        try Privileges.drop(to: accounts.worker, group: accounts.workerGroup, keeping: [.netAdmin])
        try ThisProcess.setDumpable(false)
        try ThisProcess.limit(.openFiles, to: openFiles)

        let directory = settings.runDirectory + "/worker"
        let log = Log("worker", sink: try FileSink(directory: Directory(directory), name: Desk.logName))
        let network = try HostNetwork(ledgerIn: Directory(directory), owner: accounts.worker, log: log.labelled("host"))
        let memory = SessionMemory(in: try Directory(directory), owner: accounts.worker, log: log)
        let loop = try EventLoop()
        let tunnel = Tunnel(
            loop: loop, network: network, channel: try HostChannel(channel), engineHost: engineHost, memory: memory,
            accounts: accounts, domestic: DomesticFile(in: settings.ruleSets, log: log), log: log)
        let folder = try Directory(directory)
        try confine(directory)
        try tunnel.begin()

        var desk: Desk?
        let server = try CommandServer(loop: loop, listener: listener, accounts: accounts, log: log) {
            desk?.take($0, from: $1)
        }
        desk = Desk(tunnel: tunnel, server: server, settings: settings, logDirectory: folder)
        tunnel.onExit = { loop.stop() }
        try loop.onSignals([Signal.terminate, Signal.interrupt, Signal.hangUp]) { signal in
            log(.notice, "asked to end", ["signal": "\(signal)"])
            tunnel.handle(.stop)
        }
        log(.notice, "serving", ["pid": "\(ThisProcess.pid)", "engine-host": "\(engineHost)"])
        ThisProcess.releaseMemory()
        try loop.run()
        log(.notice, "ended")
        withExtendedLifetime((server, desk)) {}
    }

    /// Landlock and seccomp: the worker writes its own directory, starts nothing and connects nowhere.
    private static func confine(_ directory: String) throws {
        var rules = LandlockRules()
        rules.readable = ["/proc", "/sys", "/etc", "/usr"]
        rules.writable = [directory]
        // Where new links come without IPv6, ours is given it; see HostNetwork.
        rules.files = ["/proc/sys/net/ipv6/conf"]
        rules.bindablePorts = []
        rules.refusesConnections = true
        // The engine host, which is not below it, is woken when it was stopped. No user but its own lets it do more.
        rules.confinesSignals = false
        try Landlock.enter(rules)
        try DeniedCalls.refuse(DeniedCalls.worker)
    }
}
