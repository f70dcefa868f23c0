// What an engine needs before it is started, and why one failed, in words a person can act on.

internal import Commands
internal import JSON
internal import Linux

extension EngineHost {
    /// Bytes of a profile at most.
    private static let profileLimit = 64 << 20

    /// Checks what can be known before anything is started.
    /// - Returns: the engine's program as this process holds it.
    func checkMachine() throws(Failure) -> String {
        guard Surroundings.exists(configuration.engine) else { throw missing }
        guard Surroundings.isExecutable(configuration.engine) else {
            throw Failure(
                .engineMissing, "The engine \(configuration.engine) cannot be run by the engine's user.",
                remedy: "Make it and the directories above it readable and executable for everyone (chmod 755).")
        }
        do { _ = try TrustedPath.check(configuration.engine) } catch {
            throw Failure(
                .engineMissing, "The engine is not run: \(error).",
                remedy: "Give it and the directories above it to root (chown root, chmod go-w).")
        }
        guard let program else {
            throw Failure(
                .engineMissing, "The engine \(configuration.engine) was missing when trocket-tunnel was started.",
                remedy: "Restart trocket-tunnel (systemctl restart trocket-tunnel).")
        }
        guard Surroundings.isUsable("/dev/net/tun") else {
            throw Failure(
                .noTUN, "The engine's user cannot open /dev/net/tun.",
                remedy: "Load the tun module (modprobe tun) and open the device to all (chmod 666 /dev/net/tun).")
        }
        return "/proc/self/fd/\(program.number)"
    }

    private var missing: Failure {
        Failure(
            .engineMissing, "The engine is missing: there is no \(configuration.engine).",
            remedy: "Run scripts/setup, or start trocket-tunnel with --engine and the path of a sing-box 1.14.")
    }

    /// The user's profile, which must be the user's own regular file.
    func profile(of owner: UInt32) throws(Failure) -> [UInt8] {
        do {
            return try readProfile(of: owner)
        } catch let failure as Failure {
            throw failure
        } catch let error as SystemCallError where error.errno == .noSuchFile {
            throw Failure(
                .noProfile, "There is no directory of user \(owner) below \(configuration.stateRoot)/users.",
                remedy:
                    "Add the user to the group trocket (or start trocket-tunnel with --user \(owner)), and restart it.")
        } catch {
            throw Failure(
                .badProfile, "The profile of user \(owner) cannot be used: \(error).",
                remedy: "Import the subscription again; remove what is in the way.")
        }
    }

    private func readProfile(of owner: UInt32) throws -> [UInt8] {
        let path = configuration.userDirectory(owner)
        let folder = try Directory(path)
        guard try folder.status().owner == owner else {
            throw Failure(
                .badProfile, "The directory \(path) does not belong to user \(owner).",
                remedy: "Remove it and restart trocket-tunnel, which makes it anew.")
        }
        guard let bytes = try folder.read("profile.json", owner: owner, limit: Self.profileLimit) else {
            throw Failure(
                .noProfile, "There is no profile of user \(owner) yet.",
                remedy: "Import a subscription first: trocket-controller import LINK.")
        }
        try Self.checkProfile(bytes)
        return bytes
    }

    /// What a profile may hold. All else is the worker's half alone, for the engine appends the lists of both. The names that
    /// are allowed and not those that are not: to the engine `Inbounds` is `inbounds`, and so is every other way to write it.
    private static let allowed: Set<String> = ["$schema", "certificate", "dns", "endpoints", "outbounds", "route"]

    /// A profile says where traffic goes and nothing else.
    static func checkProfile(_ bytes: [UInt8]) throws(Failure) {
        let remedy = "Import the subscription again: trocket-controller import LINK."
        let profile: JSON
        do throws(JSONError) { profile = try JSON.parse(bytes) } catch {
            throw Failure(.badProfile, "The profile is damaged: it is no JSON (\(error)).", remedy: remedy)
        }
        guard let members = profile.object else {
            throw Failure(.badProfile, "The profile is damaged: it is no JSON object.", remedy: remedy)
        }
        if let key = members.members.first(where: { !allowed.contains($0.key) })?.key {
            throw Failure(.badProfile, "The profile holds \"\(key)\", which only the tunnel may set.", remedy: remedy)
        }
    }

    /// Why an engine ended that was not asked to.
    func diagnosis(_ engine: RunningEngine, code: Int32) -> Failure {
        if let failure = engine.failure { return failure }
        if engine.namespaces == nil, let forbidden = namespacesForbidden() { return forbidden }
        // Beyond the numbers of signals it is a status of its own: 255 when a child of the engine was killed.
        let how = (129...192).contains(code) ? "was killed by signal \(code - 128)" : "ended with status \(code)"
        let lines = log.lines == 1 ? "1 line" : "\(log.lines) lines"
        return Failure(
            .engineExited,
            "The engine \(how) \(engine.isReady ? "while running" : "while starting"); its log has \(lines).",
            remedy: "Look at its log: trocket-controller logs --source engine.")
    }

    /// Why this user may not make user namespaces; nil when it may.
    private func namespacesForbidden() -> Failure? {
        guard (try? canMakeUserNamespaces()) == false else { return nil }
        let message = "The engine cannot make its sandbox: unprivileged user namespaces are forbidden here"
        func value(_ path: String) -> String? { (try? KernelFile.read("/proc/sys/" + path)) ?? nil }
        if value("user/max_user_namespaces") == "0" {
            return Failure(
                .userNamespaces, message + " (user.max_user_namespaces is 0).",
                remedy: "Allow them: sysctl user.max_user_namespaces=16384.")
        }
        if value("kernel/unprivileged_userns_clone") == "0" {
            return Failure(
                .userNamespaces, message + " (kernel.unprivileged_userns_clone is 0).",
                remedy: "Allow them: sysctl kernel.unprivileged_userns_clone=1.")
        }
        if value("kernel/apparmor_restrict_unprivileged_userns") == "1" {
            return Failure(
                .userNamespaces, message + " (kernel.apparmor_restrict_unprivileged_userns is 1).",
                remedy: "Load the AppArmor profile that comes with Trocket, or: "
                    + "sysctl kernel.apparmor_restrict_unprivileged_userns=0.")
        }
        return Failure(
            .userNamespaces, message + ".",
            remedy: "Allow them to the user trocket-engine (see user_namespaces(7)), or leave the container.")
    }
}
