// Finding the engine's sandbox, and making sure that it is the engine's: the pid file is written by the engine, and a
// hostile one would name a process whose network it wants the worker to change.

internal import Commands
internal import Linux

/// The namespaces of an engine's sandbox, held open.
struct SandboxNamespaces: ~Copyable {
    let user: Descriptor
    let network: Descriptor
}

/// The process that holds a sandbox.
enum Holder {
    /// The pid in the file, if there is a whole one.
    static func pid(in directory: borrowing Directory, named name: String, owner: UInt32) -> Int32? {
        guard let bytes = try? directory.read(name, owner: owner, limit: 32) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let pid = Int32(text.split { $0 == "\n" || $0 == " " }.first ?? ""), pid > 1 else { return nil }
        return pid
    }

    /// Opens the holder's namespaces, then proves that they are a sandbox made by the engine: the holder descends from the
    /// engine, its user namespace is not ours, and its network namespace belongs to that user namespace and is not ours.
    /// - Parameters:
    ///   - holder: what the pid file says.
    ///   - engine: the engine's pid; the caller has not reaped it, so nobody else can have it.
    /// - Throws: `SystemCallError`, or `Failure` with `untrustedSandbox`.
    static func namespaces(of holder: Int32, engine: Int32) throws -> SandboxNamespaces {
        // The descriptor of the directory stays with this very process, whoever gets the number afterwards.
        let process = try Directory("/proc/\(holder)")
        let namespaces = SandboxNamespaces(
            user: try process.openMagicLink("ns/user"), network: try process.openMagicLink("ns/net"))
        guard try descends(process, from: engine) else {
            throw untrusted("process \(holder), which it names as the holder, is not its own")
        }
        let user = try NamespaceIdentity(of: namespaces.user.number, kind: .user)
        let network = try NamespaceIdentity(of: namespaces.network.number, kind: .network)
        guard user != (try NamespaceIdentity(ofThisThread: .user)),
            network != (try NamespaceIdentity(ofThisThread: .network)),
            try NamespaceIdentity(ownerOf: namespaces.network.number) == user
        else { throw untrusted("the namespaces it names are not a sandbox") }
        return namespaces
    }

    private static func untrusted(_ why: String) -> Failure {
        Failure(
            .untrustedSandbox, "The engine's sandbox was refused: \(why).",
            remedy: "Use an unchanged sing-box 1.14 or newer.")
    }

    /// The longest chain of parents between engine and holder.
    private static let generations = 8

    private static func descends(_ process: borrowing Directory, from engine: Int32) throws -> Bool {
        var parent = try parent(process.read("stat", owner: nil, limit: 4096))
        for _ in 0..<generations {
            guard let pid = parent, pid > 1 else { return false }
            if pid == engine { return true }
            parent = try Self.parent(Directory("/proc/\(pid)").read("stat", owner: nil, limit: 4096))
        }
        return false
    }

    /// Field 4 of a stat file; the name before it may hold anything, so counting starts behind its last parenthesis.
    private static func parent(_ stat: [UInt8]?) -> Int32? {
        guard let stat, let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[(end + 1)...].split(separator: 0x20)
        return fields.count > 1 ? Int32(String(decoding: fields[1], as: UTF8.self)) : nil
    }
}
