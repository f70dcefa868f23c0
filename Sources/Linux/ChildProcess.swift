// Starting and ending other programs: explicit descriptors, default signals, confinement in force before exec.

import CLinux
import Glibc

/// What to start and how it is confined. Nothing is inherited that is not named here, the environment included.
package struct ChildRequest {
    /// The program's path; no search.
    package var path: String
    /// Arguments, the program's name first.
    package var arguments: [String]
    /// `NAME=value` strings.
    package var environment: [String] = []
    /// The working directory; nil for ours.
    package var directory: String?
    /// Descriptors the child gets: child's number → ours. 0, 1 and 2 become /dev/null unless given.
    package var descriptors: [Int32: Int32] = [:]
    /// The signal the child gets when the starting thread dies (PR_SET_PDEATHSIG), or nil.
    package var parentDeathSignal: Int32? = SIGKILL
    /// setsid(2) before exec.
    package var newSession = true
    /// PR_SET_NO_NEW_PRIVS (prctl(2)) before exec.
    package var noNewPrivileges = true
    /// A Landlock ruleset descriptor to enter, or nil.
    package var landlock: Int32?
    /// System call numbers answered with EPERM.
    package var deniedCalls: [Int32] = []
    /// Whether it can make Internet and routing sockets only (seccomp(2)): no Unix socket and so no bus, no netfilter.
    package var internetOnly = false
    /// Whether it makes threads only, no process, and cannot call off the signal for the parent's death (seccomp(2)).
    package var threadsOnly = false
    /// setrlimit(2): resource → soft and hard limit.
    package var limits: [(resource: Int32, soft: UInt64, hard: UInt64)] = []
    /// umask(2).
    package var fileMask: UInt32 = 0o077

    package init(path: String, arguments: [String]) {
        self.path = path
        self.arguments = arguments
    }
}

/// A child process, held by pid and pidfd so that its number cannot be reused under us.
package final class ChildProcess {
    /// Its process id.
    package let pid: Int32
    private let pidfd: Descriptor
    /// Exit status, or 128 + signal; nil while it runs or is not yet reaped.
    package private(set) var exitCode: Int32?

    /// Starts a program. Corresponds to fork(2) and execve(2).
    /// - Throws: `SystemCallError` naming the step that failed, such as "executing the program".
    package init(starting request: ChildRequest) throws(SystemCallError) {
        let null = Descriptor(
            owning: try checkErrno("opening", "/dev/null") { open("/dev/null", O_RDWR | O_CLOEXEC) })
        var map = request.descriptors
        for number in Int32(0)...2 where map[number] == nil { map[number] = null.number }
        let to = map.keys.sorted()
        let from = to.compactMap { map[$0] }
        let limits = request.limits.map { cl_limit(resource: $0.resource, soft: $0.soft, hard: $0.hard) }
        var pidfd: Int32 = -1
        var stage: UnsafePointer<CChar>?
        let result = Self.withCStrings(request.arguments) { arguments in
            Self.withCStrings(request.environment) { environment in
                request.path.withCString { path in
                    Self.withOptionalCString(request.directory) { directory in
                        from.withUnsafeBufferPointer { from in
                            to.withUnsafeBufferPointer { to in
                                request.deniedCalls.withUnsafeBufferPointer { denied in
                                    limits.withUnsafeBufferPointer { limits in
                                        var raw = cl_spawn_request()
                                        raw.path = path
                                        raw.arguments = arguments
                                        raw.environment = environment
                                        raw.directory = directory
                                        raw.map_from = from.baseAddress
                                        raw.map_to = to.baseAddress
                                        raw.map_count = Int32(to.count)
                                        raw.parent_death_signal = request.parentDeathSignal ?? 0
                                        raw.new_session = request.newSession ? 1 : 0
                                        raw.no_new_privs = request.noNewPrivileges ? 1 : 0
                                        raw.landlock = request.landlock ?? -1
                                        raw.denied_calls = denied.baseAddress
                                        raw.denied_count = Int32(denied.count)
                                        raw.internet_only = request.internetOnly ? 1 : 0
                                        raw.threads_only = request.threadsOnly ? 1 : 0
                                        raw.limits = limits.baseAddress
                                        raw.limit_count = Int32(limits.count)
                                        raw.file_mask = request.fileMask
                                        return cl_spawn(&raw, &pidfd, &stage)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        let step = stage.map { String(cString: $0) } ?? "starting"
        pid = try check(result, step, "(starting \(request.path))")
        self.pidfd = Descriptor(owning: pidfd)
    }

    /// The pidfd: readable once the process has ended (pidfd_open(2)).
    package var descriptor: Int32 { pidfd.number }

    /// Sends a signal; false when the process has already ended.
    @discardableResult
    package func signal(_ number: Int32) -> Bool {
        exitCode == nil && cl_pidfd_send_signal(pidfd.number, number) == 0
    }

    /// The exit status if the process has ended, without waiting; reaps it.
    package func reap() -> Int32? {
        if exitCode == nil {
            var code: Int32 = 0
            if cl_reap(pid, 0, &code) > 0 { exitCode = code }
        }
        return exitCode
    }

    /// Waits for the end.
    /// - Parameter milliseconds: at most so long; nil for ever.
    /// - Returns: the exit status (128 + signal when killed), or nil when it still runs.
    package func wait(milliseconds: Int? = nil) -> Int32? {
        let deadline = milliseconds.map { Moment.now.adding(milliseconds: $0) }
        while exitCode == nil {
            var poller = pollfd(fd: pidfd.number, events: Int16(POLLIN), revents: 0)
            let left = deadline.map { Int32(clamping: $0.milliseconds(since: Moment.now)) } ?? -1
            let ready = poll(&poller, 1, left)
            if ready > 0 || (ready < 0 && errno != EINTR) { return reap() }
            if let deadline, Moment.now >= deadline { return reap() }
        }
        return exitCode
    }

    /// Ends the process: SIGTERM, then SIGKILL when it is still there after the grace time; without a grace time at once.
    @discardableResult
    package func end(graceMilliseconds: Int) -> Int32? {
        if graceMilliseconds > 0 {
            signal(SIGTERM)
            if let code = wait(milliseconds: graceMilliseconds) { return code }
        }
        signal(SIGKILL)
        return wait()
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        var pointers: [UnsafePointer<CChar>?] = copies.map { $0.map { UnsafePointer($0) } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { buffer in body(buffer.baseAddress!) }
    }

    private static func withOptionalCString<Result>(
        _ string: String?, _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        guard let string else { return body(nil) }
        return string.withCString { body($0) }
    }
}
