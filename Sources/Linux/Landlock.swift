// Landlock rulesets: which paths a process may read, write or run, whatever its user may (landlock(7)).

import CLinux
import Glibc

/// What a confined process may reach. Everything not named is refused.
package struct LandlockRules: Sendable {
    /// Directories and files that may be read and listed.
    package var readable: [String] = []
    /// Directories and files below which programs may be run; also readable.
    package var executable: [String] = []
    /// Directories below which files may be made, changed and removed; also readable.
    package var writable: [String] = []
    /// Single files, such as devices, that may be read and written.
    package var files: [String] = []
    /// TCP ports that may be bound; nil leaves binding free. 0 stands for "any free port".
    package var bindablePorts: [UInt16]?
    /// Whether outgoing TCP connections are refused.
    package var refusesConnections = false
    /// Whether signals are confined to the process and what it starts (ABI 6).
    package var confinesSignals = true
    /// Whether abstract sockets are confined to the process and what it starts (ABI 6).
    package var confinesAbstractSockets = true

    package init() {}
}

/// Landlock on this kernel.
package enum Landlock {
    private static let execute: UInt64 = 1 << 0
    private static let writeFile: UInt64 = 1 << 1
    private static let readFile: UInt64 = 1 << 2
    private static let readDirectory: UInt64 = 1 << 3
    private static let refer: UInt64 = 1 << 13
    private static let truncate: UInt64 = 1 << 14
    private static let deviceControl: UInt64 = 1 << 15
    private static let bind: UInt64 = 1 << 0
    private static let connect: UInt64 = 1 << 1
    private static let abstractSockets: UInt64 = 1 << 0
    private static let signals: UInt64 = 1 << 1

    /// The version this kernel speaks; 0 without Landlock.
    package static var version: Int { max(0, Int(cl_landlock_abi())) }

    /// A ruleset that can be entered, with as much of the rules as this kernel can enforce; nil without Landlock. Paths that
    /// do not exist are left out.
    /// - Throws: `SystemCallError`.
    package static func ruleset(_ rules: LandlockRules) throws(SystemCallError) -> Descriptor? {
        let answer = cl_landlock_abi()
        // Only a kernel without Landlock may go on without it; a refusal (an outer filter, say) is an error.
        if [Errno.noSystemCall, .notSupported].contains(Errno(rawValue: -answer)) { return nil }
        let version = try check(answer, "asking for the version of", "Landlock")
        // Bits 0…12 are ABI 1, then one each for ABI 2 (refer), 3 (truncate) and 5 (ioctl on devices).
        var all: UInt64 = (1 << 13) - 1
        if version >= 2 { all |= refer }
        if version >= 3 { all |= truncate }
        if version >= 5 { all |= deviceControl }
        var net: UInt64 = 0
        if version >= 4, rules.bindablePorts != nil { net |= bind }
        if version >= 4, rules.refusesConnections { net |= connect }
        var scopes: UInt64 = 0
        if version >= 6, rules.confinesAbstractSockets { scopes |= abstractSockets }
        if version >= 6, rules.confinesSignals { scopes |= signals }
        let ruleset = Descriptor(
            owning: try check(cl_landlock_create(all, net, scopes), "making a Landlock ruleset"))

        let read = readFile | readDirectory
        for path in rules.readable { try allow(path, read, all, ruleset.number) }
        for path in rules.executable { try allow(path, read | execute, all, ruleset.number) }
        for path in rules.writable { try allow(path, all & ~execute & ~deviceControl, all, ruleset.number) }
        for path in rules.files {
            try allow(path, readFile | writeFile | truncate | deviceControl, all, ruleset.number)
        }
        if net & bind != 0 {
            for port in rules.bindablePorts ?? [] {
                try check(
                    cl_landlock_allow_port(ruleset.number, UInt32(port), bind), "allowing in Landlock", "port \(port)")
            }
        }
        return ruleset
    }

    /// Enters a ruleset, for good, with everything started afterwards.
    package static func enter(_ rules: LandlockRules) throws(SystemCallError) {
        guard let ruleset = try ruleset(rules) else { return }
        try check(cl_landlock_restrict(ruleset.number), "entering Landlock")
    }

    private static func allow(
        _ path: String, _ access: UInt64, _ handled: UInt64, _ ruleset: Int32
    ) throws(SystemCallError) {
        let number = Glibc.open(path, CL_O_PATH | O_CLOEXEC)
        guard number >= 0 else { return }
        let place = Descriptor(owning: number)
        var access = access & handled
        // A rule on a file may name no right of directories.
        if try !FileStatus(of: place.number, subject: path).isDirectory {
            access &= execute | writeFile | readFile | truncate | deviceControl
        }
        try check(cl_landlock_allow(ruleset, place.number, access), "allowing in Landlock", path)
    }
}
