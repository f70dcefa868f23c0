// A copy of this process that does one thing and ends: for namespaces, which are entered for good.

import CLinux
import Glibc

/// A fork without exec. Only for a process that has one thread (fork(2) copies no other).
package enum ForkedChild {
    /// Forks; the copy runs the body and ends with what it returns. It dies with its parent.
    /// - Returns: the child's pid, to the parent.
    package static func run(_ body: () -> Int32) throws(SystemCallError) -> Int32 {
        let parent = getpid()
        let child = try check(cl_fork(), "forking")
        guard child == 0 else { return child }
        _ = cl_set_parent_death_signal(SIGKILL)
        guard getppid() == parent else { _exit(1) }
        _exit(body())
    }

    /// The exit status (128 + signal when killed) if the child has ended, without waiting.
    package static func reap(_ pid: Int32) -> Int32? {
        var code: Int32 = 0
        return cl_reap(pid, 0, &code) > 0 ? code : nil
    }

    /// Ends a child that was not reaped yet, and reaps it.
    package static func kill(_ pid: Int32) {
        var code: Int32 = 0
        _ = Glibc.kill(pid, SIGKILL)
        _ = cl_reap(pid, 1, &code)
    }

    /// Has this process killed when its parent dies. The kernel forgets it when the user changes, so ask afterwards.
    /// - Parameter parent: the parent's pid when the child was made; when it is another by now, the parent is dead already.
    package static func dieWithParent(_ parent: Int32) throws(SystemCallError) {
        try check(cl_set_parent_death_signal(SIGKILL), "asking to die with the parent")
        guard getppid() == parent else { throw SystemCallError("asking to die with the parent", "", .noSuchProcess) }
    }
}

/// This process.
package enum ThisProcess {
    /// Corresponds to getpid(2).
    package static var pid: Int32 { getpid() }

    /// Whether others of the same user may look into this process's memory and /proc entries.
    package static func setDumpable(_ on: Bool) throws(SystemCallError) {
        try check(cl_set_dumpable(on ? 1 : 0), "forbidding to be traced")
    }

    /// From now on, descendants whose parent dies become this process's children, instead of running on unseen.
    package static func adoptOrphans() throws(SystemCallError) {
        try check(cl_set_subreaper(1), "adopting orphans")
    }

    /// Kills and reaps every child, adopted ones and their own children included.
    package static func endChildren() {
        // Killing a child may bring its children to us, so look again; a bound, for they may fork meanwhile.
        for _ in 0..<64 {
            let list = (try? KernelFile.read("/proc/thread-self/children")) ?? nil
            let children = (list ?? "").split(separator: " ").compactMap { Int32($0) }
            guard !children.isEmpty else { return }
            children.forEach { _ = Glibc.kill($0, SIGKILL) }
            children.forEach(ForkedChild.kill)
        }
    }

    /// Has the kernel take this process and what it starts before others when memory runs out (proc_pid_oom_score_adj(5)). Must
    /// be asked while still root: afterwards the file is not the process's own. A kernel that says no is no failure.
    package static func offerToMemoryKiller() { try? KernelFile.write("/proc/self/oom_score_adj", "500") }

    /// Gives back memory that was needed for a moment only: code that ran once, and freed allocations.
    package static func releaseMemory() { cl_release_memory() }

    /// Leaves the parent's process group, but not its session. Corresponds to setpgid(2). So a group that is stopped when its
    /// parent ends gets SIGHUP and SIGCONT from the kernel (setpgid(2) on orphaned groups), whoever stopped it; the
    /// parent-death signal would not do, for the kernel asks the dying parent's user for leave to send it.
    package static func beginGroup() { _ = setpgid(0, 0) }

    /// Lets a process of this session go on that was stopped, whatever its user (kill(2) on SIGCONT).
    package static func wake(_ pid: Int32) { _ = Glibc.kill(pid, SIGCONT) }

    /// The name in process lists, at most 15 bytes.
    package static func setName(_ name: String) { _ = cl_set_name(name) }

    /// Sets soft and hard limit to a value, or to the hard limit in force where that is lower. Corresponds to setrlimit(2).
    package static func limit(_ resource: ResourceLimit, to value: UInt64) throws(SystemCallError) {
        let value = min(value, hardLimit(resource))
        try check(cl_set_limit(resource.rawValue, value, value), "limiting", "\(resource)")
    }

    /// The hard limit in force. Corresponds to getrlimit(2).
    package static func hardLimit(_ resource: ResourceLimit) -> UInt64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(UInt32(resource.rawValue)), &limit) == 0 else { return 0 }
        return UInt64(limit.rlim_max)
    }
}

/// What a process can be limited in.
package enum ResourceLimit: Sendable {
    case openFiles, processes, lockedMemory, coreSize, fileSize

    /// The number setrlimit(2) knows it by.
    package var rawValue: Int32 {
        switch self {
        case .openFiles: Int32(RLIMIT_NOFILE.rawValue)
        case .processes: Int32(__RLIMIT_NPROC.rawValue)
        case .lockedMemory: Int32(__RLIMIT_MEMLOCK.rawValue)
        case .coreSize: Int32(RLIMIT_CORE.rawValue)
        case .fileSize: Int32(RLIMIT_FSIZE.rawValue)
        }
    }
}

/// Signals by name.
package enum Signal {
    /// Asks to end.
    package static let terminate = SIGTERM
    /// Ctrl-C.
    package static let interrupt = SIGINT
    /// The terminal went away.
    package static let hangUp = SIGHUP
    /// Ends at once; cannot be caught.
    package static let kill = SIGKILL
    /// A child ended.
    package static let child = SIGCHLD
}
