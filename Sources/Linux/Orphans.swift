// Processes of a user that has no others than one program's, left over from a run of it that was killed.

import Glibc

/// Finds and ends what nobody answers for any more.
package enum Orphans {
    /// Looks again so often: what is killed may have started something meanwhile.
    private static let rounds = 64
    /// The longest chain of parents.
    private static let generations = 64

    /// Kills every other process of this process's user that has fallen to the system's first process or to a session's
    /// service manager, with what it has started. What somebody living has started, another worker's engine or a test, stays,
    /// and so does what lives in a container with the same user's number.
    /// - Returns: how many were found.
    @discardableResult
    package static func end() -> Int {
        var found = 0
        for _ in 0..<rounds {
            let left = processes().filter { isOrphan($0) }
            guard !left.isEmpty else { break }
            found += left.count
            left.forEach { _ = kill($0, SIGKILL) }
        }
        return found
    }

    private static func processes() -> [Int32] {
        guard let names = try? Directory("/proc").names() else { return [] }
        return names.compactMap { Int32($0) }.filter { $0 != getpid() }
    }

    private static func isOrphan(_ process: Int32) -> Bool {
        guard var at = Facts(process), at.user == getuid(), !at.hasEnded, !at.isContained else { return false }
        for _ in 0..<generations {
            if at.parent <= 1 { return true }
            // A parent that is gone or hidden says nothing.
            guard at.parent != getpid(), let parent = Facts(at.parent) else { return false }
            guard parent.user == getuid() else { return parent.name == "systemd" }
            at = parent
        }
        return false
    }

    /// What `/proc/PID/status` says, which is the same whether a process lets itself be looked into or not.
    private struct Facts {
        let name: String
        let parent: Int32
        let user: UInt32
        let hasEnded: Bool
        /// In a process namespace below this one.
        let isContained: Bool

        init?(_ process: Int32) {
            guard let text = (try? KernelFile.read("/proc/\(process)/status")) ?? nil else { return nil }
            var values: [Substring: Substring] = [:]
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: "\t", maxSplits: 1)
                if parts.count == 2 { values[parts[0]] = parts[1] }
            }
            guard let parent = values["PPid:"].flatMap({ Int32($0) }),
                let user = values["Uid:"]?.split(separator: "\t").first.flatMap({ UInt32($0) })
            else { return nil }
            name = String(values["Name:"] ?? "")
            self.parent = parent
            self.user = user
            hasEnded = values["State:"]?.first == "Z"
            isContained = values["NSpid:"]?.contains("\t") ?? false
        }
    }
}
