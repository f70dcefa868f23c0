// Putting down what a program inherits from whoever started it.

import CLinux
import Glibc
package import Linux

/// What is kept of what was inherited: sockets handed over by the service manager (sd_listen_fds(3)).
package struct Inheritance: Sendable {
    /// Descriptors of passed sockets.
    package var sockets: [Int32] = []

    /// Puts down everything else: descriptors, session, directory, file mask, environment, signal handlers and mask, core
    /// dumps. 0, 1 and 2 stay what they are, or become /dev/null.
    /// - Throws: `SystemCallError`. The program must not go on.
    package static func shed(keepingSockets: Bool) throws(SystemCallError) -> Inheritance {
        var kept = Inheritance()
        if keepingSockets { kept.sockets = passedSockets() }
        let first = 3 + kept.sockets.count
        try check(cl_close_range(UInt32(first), UInt32.max, 0), "closing inherited descriptors")
        for socket in kept.sockets {
            try checkErrno("marking a passed socket") { fcntl(socket, F_SETFD, FD_CLOEXEC) }
        }
        try check(cl_fill_standard_descriptors(), "opening", "/dev/null")
        // Fails only for the leader of a process group, which a service manager or a shell may have made us.
        _ = cl_setsid()
        try checkErrno("changing directory to", "/") { chdir("/") }
        _ = cl_set_file_mask(0o077)
        try check(cl_clear_environment(), "clearing the environment")
        try check(cl_reset_signals(), "resetting signals")
        try check(cl_set_limit(Int32(RLIMIT_CORE.rawValue), 0, 0), "forbidding core dumps")
        return kept
    }

    /// Closes every descriptor from 3 on but one, in a copy of this process.
    package static func closeAll(but kept: Int32) throws(SystemCallError) {
        if kept > 3 { try check(cl_close_range(3, UInt32(kept) - 1, 0), "closing descriptors") }
        try check(cl_close_range(UInt32(kept) + 1, UInt32.max, 0), "closing descriptors")
    }

    /// sd_listen_fds(3): LISTEN_FDS descriptors from 3 on, meant for the process LISTEN_PID.
    private static func passedSockets() -> [Int32] {
        guard let count = environment("LISTEN_FDS").flatMap({ Int32($0) }), (1...8).contains(count),
            environment("LISTEN_PID").flatMap({ Int32($0) }) == getpid()
        else { return [] }
        return Array(3..<3 + count)
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// A user or group of the system's.
package enum Accounts {
    /// The uid and primary gid of a user; nil when there is none.
    package static func user(named name: String) throws(SystemCallError) -> (user: UInt32, group: UInt32)? {
        var user: UInt32 = 0
        var group: UInt32 = 0
        return try check(cl_user_by_name(name, &user, &group), "looking up user", name) == 1 ? (user, group) : nil
    }

    /// The gid of a group; nil when there is none.
    package static func group(named name: String) throws(SystemCallError) -> UInt32? {
        var group: UInt32 = 0
        return try check(cl_group_by_name(name, &group), "looking up group", name) == 1 ? group : nil
    }

    /// The uids of a group's members, at most 256.
    package static func members(ofGroup name: String) -> [UInt32] {
        var users = [UInt32](repeating: 0, count: 256)
        let count = cl_group_members(name, &users, 256)
        return Array(users.prefix(Int(max(0, count))))
    }
}
