// What the kernel says a process may do: the lines of /proc/PID/status that matter here (proc_pid_status(5)).

import Glibc
package import Linux

/// Identity and capabilities of a process or thread.
package struct ProcessStatus: Hashable, Sendable {
    /// Real, effective, saved and filesystem user.
    package var users: [UInt32] = []
    /// Real, effective, saved and filesystem group.
    package var groups: [UInt32] = []
    /// Supplementary groups.
    package var supplementary: [UInt32] = []
    /// CapInh.
    package var inheritable = CapabilitySet.none
    /// CapPrm.
    package var permitted = CapabilitySet.none
    /// CapEff.
    package var effective = CapabilitySet.none
    /// CapBnd.
    package var bounding = CapabilitySet.none
    /// CapAmb.
    package var ambient = CapabilitySet.none
    /// NoNewPrivs.
    package var noNewPrivileges = false
    /// 2 when a seccomp filter is in force.
    package var seccomp = 0

    /// Reads the text of a status file; nil when a line that must be there is missing or malformed.
    package init?(parsing text: String) {
        var lines: [Substring: [Substring]] = [:]
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let words = line[line.index(after: colon)...].split { $0 == "\t" || $0 == " " }
            lines[line[..<colon]] = words
        }
        func numbers(_ key: Substring) -> [UInt32]? {
            guard let words = lines[key] else { return nil }
            let values = words.compactMap { UInt32($0) }
            return values.count == words.count ? values : nil
        }
        func set(_ key: Substring) -> CapabilitySet? {
            guard let words = lines[key], words.count == 1, let bits = UInt64(words[0], radix: 16) else { return nil }
            return CapabilitySet(rawValue: bits)
        }
        guard let users = numbers("Uid"), users.count == 4, let groups = numbers("Gid"), groups.count == 4,
            let supplementary = numbers("Groups"), let inheritable = set("CapInh"), let permitted = set("CapPrm"),
            let effective = set("CapEff"), let bounding = set("CapBnd"), let ambient = set("CapAmb"),
            let noNewPrivileges = numbers("NoNewPrivs"), noNewPrivileges.count == 1
        else { return nil }
        self.users = users
        self.groups = groups
        self.supplementary = supplementary
        self.inheritable = inheritable
        self.permitted = permitted
        self.effective = effective
        self.bounding = bounding
        self.ambient = ambient
        self.noNewPrivileges = noNewPrivileges == [1]
        seccomp = numbers("Seccomp").flatMap { $0.first.map(Int.init) } ?? 0
    }

    /// The status of the calling thread.
    /// - Throws: `SystemCallError` when /proc cannot be read.
    package static func ofThisThread() throws(SystemCallError) -> ProcessStatus {
        let path = "/proc/thread-self/status"
        let file = Descriptor(owning: try checkErrno("opening", path) { open(path, O_RDONLY | O_CLOEXEC) })
        let text = String(decoding: try readAll(file.number, limit: 65_536, subject: path), as: UTF8.self)
        guard let status = ProcessStatus(parsing: text) else { throw SystemCallError("reading", path, .invalid) }
        return status
    }
}
