// Run by sudo: start the service if need be, then go on as the user who typed the command.

import CommandLine
import Linux
import Messages

/// `sudo trocket-controller connect` on a system without an init that starts the service.
enum Sudo {
    /// Milliseconds a service may take to listen.
    private static let patience = 5000

    /// Starts the worker beside this program when root connects and no worker answers; then gives up root when sudo says who
    /// the user is, so that the subscription, the tunnel and every byte read belong to that user.
    static func prepare(_ command: ParsedCommand, _ output: Output) throws {
        guard Surroundings.user == 0 else { return }
        let user = Surroundings.variable("SUDO_UID").flatMap(UInt32.init) ?? 0
        let socket = Context.socketPath(Surroundings.variable)
        let verb = command.verb?.name
        if verb == "connect", !answers(socket) {
            // A service for a connect that cannot work would only be left behind.
            _ = try Connecting.wanted(
                command, Context(output: output, user: user, stateDirectory: command.value("state-dir")))
            try startWorker(socket, user)
        }
        // Repairing is root's business too: a tunnel of anyone may have to go.
        guard user != 0, verb != "disconnect" else { return }
        let group = Surroundings.variable("SUDO_GID").flatMap(UInt32.init) ?? user
        try become(user: user, group: group, groups: [group] + [Surroundings.group(named: "trocket")].compactMap { $0 })
    }

    private static func answers(_ socket: String) -> Bool { (try? UnixSocket.connect(socket)) != nil }

    private static func startWorker(_ socket: String, _ user: UInt32) throws {
        let path = try worker()
        var arguments = ["trocket-tunnel", "--user", "\(user)"]
        if let slash = socket.lastIndex(of: "/"), Surroundings.variable("TROCKET_SOCKET") != nil {
            arguments += ["--run-dir", String(socket[..<slash])]
        }
        for (name, flag) in [("TROCKET_ENGINE", "--engine"), ("TROCKET_RULE_SETS", "--rule-sets")] {
            if let value = Surroundings.variable(name), !value.isEmpty { arguments += [flag, value] }
        }
        var request = ChildRequest(path: path, arguments: arguments)
        // It outlives us, and needs root's powers until it has dropped them itself.
        request.parentDeathSignal = nil
        request.noNewPrivileges = false
        request.directory = "/"
        let child = try ChildProcess(starting: request)
        let deadline = Moment.now.adding(milliseconds: patience)
        while !answers(socket) {
            if let code = child.reap() {
                throw Failure(
                    "worker-not-started", .unavailable, Messages.workerNotStarted(path, Int(code)),
                    remedy: Messages.workerNotStartedRemedy(path))
            }
            guard Moment.now < deadline else { throw Failure.workerNotRunning(socket) }
            _ = wait(for: [], milliseconds: 20)
        }
    }

    /// The worker's program: beside this one, or installed. Root runs nothing that others can change.
    private static func worker() throws -> String {
        var candidates: [String] = []
        if let own = Surroundings.executable, let slash = own.lastIndex(of: "/") {
            candidates.append(own[..<slash] + "/trocket-tunnel")
        }
        candidates += ["/usr/lib/trocket/trocket-tunnel", "/usr/sbin/trocket-tunnel"]
        guard let path = candidates.first(where: Surroundings.isExecutable) else {
            throw Failure(
                "worker-missing", .unavailable, Messages.workerMissing, remedy: Messages.engineMissingRemedy)
        }
        guard let slash = path.lastIndex(of: "/") else { return path }
        let directory = try Directory(String(path[..<slash]))
        let file = try directory.open(String(path[path.index(after: slash)...]))
        let status = try FileStatus(of: file.number, subject: path)
        guard status.owner == 0, status.mode & 0o022 == 0 else {
            throw Failure(
                "worker-untrusted", .notPermitted, Messages.workerUntrusted(path),
                remedy: Messages.workerUntrustedRemedy)
        }
        return path
    }
}
