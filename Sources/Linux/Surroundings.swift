// What a process finds around it: environment variables, its user, its terminal, its own path.

import CLinux
import Glibc

/// Reads the process's surroundings. See environ(7), credentials(7), tty(4).
package enum Surroundings {
    /// An environment variable; nil when unset.
    package static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The real user id. Corresponds to getuid(2).
    package static var user: UInt32 { getuid() }

    /// The groups of this process, the effective one first. Corresponds to getegid(2) and getgroups(2).
    package static var groups: [UInt32] {
        let count = getgroups(0, nil)
        guard count > 0 else { return [getegid()] }
        var groups = [gid_t](repeating: 0, count: Int(count))
        let found = getgroups(count, &groups)
        return [getegid()] + groups.prefix(max(0, Int(found)))
    }

    /// The id of a user by name; nil when there is none. Corresponds to getpwnam(3).
    package static func user(named name: String) -> UInt32? {
        var user: UInt32 = 0
        var group: UInt32 = 0
        return cl_user_by_name(name, &user, &group) > 0 ? user : nil
    }

    /// The id of a group by name; nil when there is none. Corresponds to getgrnam(3).
    package static func group(named name: String) -> UInt32? {
        var group: UInt32 = 0
        return cl_group_by_name(name, &group) > 0 ? group : nil
    }

    /// True when the descriptor is a terminal. Corresponds to isatty(3).
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The columns of the terminal on a descriptor; nil when it is none. Corresponds to ioctl(2) TIOCGWINSZ.
    package static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Seconds the local time is east of UTC now. Corresponds to localtime_r(3).
    package static var utcOffset: Int {
        var now = Glibc.time(nil)
        var parts = tm()
        return localtime_r(&now, &parts) == nil ? 0 : parts.tm_gmtoff
    }

    /// The path of the running program. Corresponds to readlink(2) on /proc/self/exe.
    package static var executable: String? { link("/proc/self/exe") }

    /// What a symbolic link points at. Corresponds to readlink(2).
    package static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// True when a file is there and this process may execute it. Corresponds to access(2).
    package static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    /// True when this process may read the file. Corresponds to access(2).
    package static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

    /// True when this process may open a file for reading and writing; devices are asked by opening them.
    package static func isUsable(_ path: String) -> Bool {
        let number = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return false }
        close(number)
        return true
    }

    /// True when something is there under this path. Corresponds to access(2).
    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// True when a file is there and this process may write to it. Corresponds to access(2).
    package static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    /// True when this kernel speaks nfnetlink, which nftables needs. Corresponds to socket(2) with NETLINK_NETFILTER.
    package static var hasNetfilterSockets: Bool {
        let number = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 12)
        guard number >= 0 else { return false }
        Descriptor(owning: number).close()
        return true
    }

    /// A whole small file, such as one of /proc; nil when it cannot be read.
    package static func contents(of path: String, limit: Int = 65_536) -> String? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = Descriptor(owning: number)
        guard let bytes = try? readAll(file.number, limit: limit, subject: path) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Ends the process at once with this status; every writer here is unbuffered. Corresponds to _exit(2).
package func exitProcess(_ status: Int32) -> Never { _exit(status) }

/// Makes a write to a closed pipe an error instead of death. Corresponds to sigaction(2) with SIG_IGN.
package func ignoreBrokenPipes() { _ = cl_ignore_sigpipe() }

/// Gives up root for good and becomes a user, with these supplementary groups. Corresponds to setgroups(2), setgid(2),
/// setuid(2); called by root each sets real, effective and saved ids.
package func become(user: UInt32, group: UInt32, groups: [UInt32]) throws(SystemCallError) {
    try checkErrno("setting", "supplementary groups") { setgroups(groups.count, groups) }
    try checkErrno("becoming", "group \(group)") { setgid(group) }
    try checkErrno("becoming", "user \(user)") { setuid(user) }
}
