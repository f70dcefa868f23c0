// What root tells the worker: flags, and a configuration file with the same keys.

/// The settings of one worker. Every one of them comes from root: by flag, or from a file only root can write.
package struct WorkerSettings: Hashable, Sendable {
    /// The root of the state directories.
    package var stateRoot = "/var/lib/trocket"
    /// Where the socket and the worker's own files are.
    package var runDirectory = "/run/trocket"
    /// The engine's program.
    package var engine = "/usr/lib/trocket/sing-box"
    /// The rule-sets that come with the product.
    package var ruleSets = "/usr/share/trocket/rule-sets"
    /// Users besides the group's members whose directories are made.
    package var users: [UInt32] = []
    /// The user the worker becomes.
    package var workerUser = "trocket"
    /// The user the engine host and the engine become.
    package var engineUser = "trocket-engine"
    /// The group that may use the socket.
    package var group = "trocket"

    package init() {}

    /// The keys, which are the flags without their dashes.
    package enum Key: String, CaseIterable, Sendable {
        case stateRoot = "state-root"
        case runDirectory = "run-dir"
        case engine
        case ruleSets = "rule-sets"
        case user
        case workerUser = "worker-user"
        case engineUser = "engine-user"
        case group

        fileprivate var isPath: Bool {
            [.stateRoot, .runDirectory, .engine, .ruleSets].contains(self)
        }
    }

    /// A setting that cannot be.
    package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Sets one key.
    package mutating func set(_ key: Key, _ value: String) throws(Invalid) {
        guard !value.isEmpty, !value.utf8.contains(0) else { throw Invalid(description: "\(key.rawValue) is empty") }
        if key.isPath, !value.hasPrefix("/") {
            throw Invalid(description: "\(key.rawValue) must be an absolute path, not \"\(value)\"")
        }
        // The kernel's limit for socket paths (unix(7)).
        if key == .runDirectory, value.utf8.count > 90 { throw Invalid(description: "run-dir is too long") }
        switch key {
        case .stateRoot: stateRoot = value
        case .runDirectory: runDirectory = value
        case .engine: engine = value
        case .ruleSets: ruleSets = value
        case .user:
            guard let user = UInt32(value), user != UInt32.max else {
                throw Invalid(description: "user must be a uid, not \"\(value)\"")
            }
            if !users.contains(user) { users.append(user) }
        case .workerUser: workerUser = value
        case .engineUser: engineUser = value
        case .group: group = value
        }
    }

    /// Reads a configuration file: `key = value` a line, `#` begins a comment.
    package mutating func read(file text: String) throws(Invalid) {
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.prefix { $0 != "#" }.trimmed
            guard !content.isEmpty else { continue }
            let parts = content.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let key = Key(rawValue: parts[0].trimmed) else {
                throw Invalid(description: "line \(number + 1) is not \"key = value\" with a key known here")
            }
            try set(key, parts[1].trimmed)
        }
    }
}

/// What the command line asks for.
package enum WorkerCommand: Hashable, Sendable {
    case help
    case version
    /// Serve. The flags win over the file.
    /// - file: a configuration file that must be there; nil: the usual one, if it is there.
    case serve(flags: [Flag], file: String?)

    /// One flag with its value.
    package struct Flag: Hashable, Sendable {
        /// The key.
        package let key: WorkerSettings.Key
        /// The value as written.
        package let value: String
    }

    /// The configuration file that is read when it is there.
    package static let usualFile = "/etc/trocket/tunnel.conf"

    /// Reads the arguments behind the program's name: `--key VALUE` or `--key=VALUE`.
    package init(arguments: some Sequence<String>) throws(WorkerSettings.Invalid) {
        var flags: [Flag] = []
        var file: String?
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--help" || argument == "-h" {
                self = .help
                return
            }
            if argument == "--version" {
                self = .version
                return
            }
            guard argument.hasPrefix("--") else {
                throw WorkerSettings.Invalid(description: "\"\(argument)\" is no flag")
            }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
                throw WorkerSettings.Invalid(description: "--\(name) needs a value")
            }
            if name == "config" {
                file = value
            } else if let key = WorkerSettings.Key(rawValue: name) {
                flags.append(Flag(key: key, value: value))
            } else {
                throw WorkerSettings.Invalid(description: "there is no flag --\(name)")
            }
        }
        self = .serve(flags: flags, file: file)
    }

    /// The help text.
    package static let usage = """
        trocket-tunnel: brings the tunnel up and down for members of the group trocket. Started by root, it gives up every
        privilege but CAP_NET_ADMIN at once.
        trocket-tunnel：为 trocket 组的成员建立和撤销隧道。由 root 启动，随即放弃 CAP_NET_ADMIN 之外的一切特权。

          --state-root DIR     state directories            (/var/lib/trocket)
          --run-dir DIR        command.sock, ledger, log    (/run/trocket)
          --engine PATH        the sing-box to run          (/usr/lib/trocket/sing-box)
          --rule-sets DIR      bundled rule-sets            (/usr/share/trocket/rule-sets)
          --user UID           a user besides the group's members; repeatable
          --worker-user NAME   (trocket)   --engine-user NAME   (trocket-engine)   --group NAME   (trocket)
          --config FILE        the same keys as "key = value" lines; root's alone (/etc/trocket/tunnel.conf)
          --version, --help

        """
}

extension Substring {
    fileprivate var trimmed: String {
        let isSpace = { (character: Character) in character == " " || character == "\t" || character == "\r" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
