// What is done while still root: accounts, directories, the socket. Nothing here reads what others than root can write.

internal import Commands
internal import Linux
internal import Privileges

/// Why the worker cannot start, and the exit status that goes with it (sysexits.h).
struct StartFailure: Error, CustomStringConvertible {
    let status: Int32
    let description: String

    static func usage(_ text: String) -> StartFailure {
        StartFailure(status: 64, description: "\(text); see trocket-tunnel --help")
    }
    static func missing(_ text: String) -> StartFailure { StartFailure(status: 69, description: text) }
    static func notPermitted(_ text: String) -> StartFailure { StartFailure(status: 77, description: text) }
    static func configuration(_ text: String) -> StartFailure { StartFailure(status: 78, description: text) }
}

/// The users and the group everything is divided between.
struct WorkerAccounts: Sendable {
    var worker: UInt32
    var workerGroup: UInt32
    var engine: UInt32
    var engineGroup: UInt32
    /// Members may use the socket.
    var clients: UInt32
    /// Who systemd-resolved runs as; nil where it is not installed.
    var resolver: UInt32?

    /// These accounts.
    init(worker: UInt32, workerGroup: UInt32, engine: UInt32, engineGroup: UInt32, clients: UInt32) {
        self.worker = worker
        self.workerGroup = workerGroup
        self.engine = engine
        self.engineGroup = engineGroup
        self.clients = clients
    }

    /// Looks them up.
    init(_ settings: WorkerSettings) throws {
        func missing(_ kind: String, _ name: String) -> StartFailure {
            .configuration(
                "there is no \(kind) \(name); run scripts/setup as root, or create it (useradd --system \(name))")
        }
        guard let worker = try Accounts.user(named: settings.workerUser) else {
            throw missing("user", settings.workerUser)
        }
        guard let engine = try Accounts.user(named: settings.engineUser) else {
            throw missing("user", settings.engineUser)
        }
        guard let clients = try Accounts.group(named: settings.group) else { throw missing("group", settings.group) }
        guard worker.user != 0, engine.user != 0, worker.user != engine.user else {
            throw StartFailure.configuration("worker-user and engine-user must be two users other than root")
        }
        (self.worker, workerGroup) = worker
        (self.engine, engineGroup) = engine
        self.clients = clients
        resolver = try Accounts.user(named: "systemd-resolve")?.user
    }
}

/// The steps of the root phase.
enum RootPhase {
    /// Settings from the file, then from the flags.
    static func settings(_ flags: [WorkerCommand.Flag], file: String?) throws -> WorkerSettings {
        var settings = WorkerSettings()
        let path = file ?? WorkerCommand.usualFile
        do {
            if let text = try configurationText(path, mustExist: file != nil) { try settings.read(file: text) }
        } catch let invalid as WorkerSettings.Invalid {
            throw StartFailure.configuration("\(path): \(invalid)")
        }
        do { for flag in flags { try settings.set(flag.key, flag.value) } } catch {
            throw StartFailure.usage("\(error)")
        }
        return settings
    }

    private static func configurationText(_ path: String, mustExist: Bool) throws -> String? {
        guard let slash = path.lastIndex(of: "/") else { throw StartFailure.usage("--config needs an absolute path") }
        let folder = String(path[..<slash])
        guard mustExist || Surroundings.exists(path) else { return nil }
        let directory = try Directory(folder.isEmpty ? "/" : folder)
        try TrustedPath.check(path)
        guard let bytes = try directory.read(String(path[path.index(after: slash)...]), owner: 0, limit: 65_536) else {
            throw StartFailure.configuration("there is no \(path)")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Makes the directories of the state root and of the run directory.
    static func makeDirectories(_ settings: WorkerSettings, _ accounts: WorkerAccounts) throws {
        let state = try Directory(makingAll: settings.stateRoot, mode: 0o755)
        let users = try state.subdirectory("users", mode: 0o755)
        try users.setMode(0o755)
        let members = Set(Accounts.members(ofGroup: settings.group)).union(settings.users)
        for user in members.sorted() where user != accounts.worker && user != accounts.engine {
            try users.subdirectory(String(user), mode: 0o750).give(
                to: user, group: accounts.engineGroup, mode: 0o2750)
        }
        try state.subdirectory("engine", mode: 0o700).give(
            to: accounts.engine, group: accounts.engineGroup, mode: 0o700)
        let run = try Directory(makingAll: settings.runDirectory, mode: 0o755)
        try run.subdirectory("engine", mode: 0o700).give(
            to: accounts.engine, group: accounts.engineGroup, mode: 0o700)
        try run.subdirectory("worker", mode: 0o700).give(
            to: accounts.worker, group: accounts.workerGroup, mode: 0o700)
    }

    /// The listening socket: the service manager's, or one made here.
    static func socket(
        _ passed: [Int32], _ settings: WorkerSettings, _ accounts: WorkerAccounts
    ) throws -> Descriptor {
        if let number = passed.first {
            let socket = Descriptor(owning: number)
            guard UnixSocket.isListening(number) else {
                throw StartFailure.configuration("the socket that was passed is no listening AF_UNIX stream socket")
            }
            try socket.setNonBlocking(true)
            return socket
        }
        let path = settings.runDirectory + "/" + CommandProtocol.socketName
        do throws(SystemCallError) {
            let socket = try UnixSocket.listen(path, mode: 0o660)
            try UnixSocket.give(path, to: 0, group: accounts.clients)
            return socket
        } catch {
            guard error.errno == .addressInUse else { throw error }
            let first = server(of: path)
            throw StartFailure.missing(
                "another trocket-tunnel\(first.map { " (process \($0))" } ?? "") serves \(path); stop it first, or give "
                    + "this one a --run-dir of its own")
        }
    }
}

extension RootPhase {
    /// The process that listens on a socket.
    private static func server(of path: String) -> Int32? {
        guard let socket = try? UnixSocket.connect(path) else { return nil }
        return (try? PeerCredentials(of: socket.number))?.pid
    }
}
