// How an engine is started: which files it may reach, which calls it is refused, what it inherits. The same for the tunnel's
// engine and for the throw-away ones of the controller.

package import Linux

/// One engine to be started, confined by Landlock and seccomp, with no capability gained and nothing inherited.
package struct EngineLaunch: Sendable {
    /// The engine's program.
    package var path: String
    /// Its working directory, the only place it may write.
    package var directory: String
    /// Files of its directory that are there already; with them it may write these alone, and neither make nor remove any.
    package var files: [String]?
    /// Configuration descriptors; the engine sees them as /dev/fd/3, /dev/fd/4 …, in this order.
    package var configurations: [Int32] = []
    /// Where standard output and error go; /dev/null without.
    package var output: Int32?
    /// More directories it may read: rule-sets.
    package var readable: [String] = []
    /// `NAME=value` strings.
    package var environment: [String] = []
    /// Whether it makes a sandbox with a TUN of its own.
    package var makesSandbox = false
    /// TCP ports it may listen on; nil leaves that free.
    package var ports: [UInt16]?

    package init(path: String, directory: String) {
        self.path = path
        self.directory = directory
    }

    /// `sing-box run --disable-color -c /dev/fd/3 … -D DIRECTORY`. Of several files the first wins on single values, and
    /// they are taken in the order of their names, not of the arguments.
    package var arguments: [String] {
        let files = configurations.indices.flatMap { ["-c", "/dev/fd/\($0 + 3)"] }
        return ["sing-box", "run", "--disable-color"] + files + ["-D", directory]
    }

    /// What the engine may reach.
    package var rules: LandlockRules {
        var rules = Self.rules(path: path, readable: readable)
        if let files {
            rules.readable.append(directory)
            rules.files += files.map { "\(directory)/\($0)" }
        } else {
            rules.writable = [directory]
        }
        // Below /proc it writes its helpers' uid_map; file permissions and namespaces keep it from all else there.
        if makesSandbox { rules.files += ["/proc", "/dev/net/tun"] }
        rules.bindablePorts = ports.map { [0] + $0 }
        return rules
    }

    /// What every run of the engine may reach.
    private static func rules(path: String, readable: [String]) -> LandlockRules {
        var rules = LandlockRules()
        rules.readable =
            ["/usr", "/etc", "/lib", "/lib64", "/sys", "/proc"]
            // Where /etc/resolv.conf leads on many systems.
            + ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"] + readable
        rules.executable = [path, "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
        rules.files = ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"]
        return rules
    }

    /// Open files: enough for many connections, two descriptors each.
    private static let openFiles: UInt64 = 65_536
    /// Threads and processes of the engine's user together.
    private static let processes: UInt64 = 4_096
    /// Bytes of a file. Its memory of selection and mode takes some ten thousand, and lies in memory like all of /run.
    package static let fileSize: UInt64 = 16 << 20

    /// Starts the engine.
    /// - Parameter asOwnUser: whether limits meant for a user that is the engine's alone apply.
    /// - Throws: `SystemCallError` naming the step that failed.
    package func start(asOwnUser: Bool) throws(SystemCallError) -> ChildProcess {
        var request = ChildRequest(path: path, arguments: arguments)
        request.environment = environment
        request.directory = directory
        for (position, descriptor) in configurations.enumerated() {
            request.descriptors[Int32(position) + 3] = descriptor
        }
        if let output {
            request.descriptors[1] = output
            request.descriptors[2] = output
        }
        request.limits = [(ResourceLimit.coreSize.rawValue, 0, 0)]
        if asOwnUser {
            let limits: [(ResourceLimit, UInt64)] = [
                (.openFiles, Self.openFiles), (.processes, Self.processes), (.fileSize, Self.fileSize),
            ]
            for (resource, value) in limits {
                let value = min(value, ThisProcess.hardLimit(resource))
                request.limits.append((resource.rawValue, value, value))
            }
        }
        // The helper of a sandbox is a process of its own.
        request.threadsOnly = !makesSandbox
        return try Self.start(request, rules)
    }

    /// Starts a run of the engine that ends by itself, such as `version` or `check`: it writes nowhere and speaks to nobody.
    /// - Parameters:
    ///   - request: what to run and its descriptors.
    ///   - readable: more directories it may read: rule-sets.
    /// - Throws: `SystemCallError` naming the step that failed.
    package static func startBriefly(
        _ request: ChildRequest, readable: [String] = []
    ) throws(SystemCallError) -> ChildProcess {
        var rules = rules(path: request.path, readable: readable)
        rules.bindablePorts = []
        rules.refusesConnections = true
        var request = request
        request.threadsOnly = true
        return try start(request, rules)
    }

    private static func start(
        _ request: ChildRequest, _ rules: LandlockRules
    ) throws(SystemCallError) -> ChildProcess {
        var request = request
        request.deniedCalls = DeniedCalls.engine
        request.internetOnly = true
        guard let ruleset = try Landlock.ruleset(rules) else { return try ChildProcess(starting: request) }
        request.landlock = ruleset.number
        let child = try ChildProcess(starting: request)
        ruleset.close()
        return child
    }
}
