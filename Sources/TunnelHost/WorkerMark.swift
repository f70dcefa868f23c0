// The note a worker leaves on its link, by which another worker knows whether it still lives.

internal import Linux

/// Who holds a link: a process and when it started, so that a number used again is not mistaken for it.
struct WorkerMark: Hashable {
    let pid: Int32
    /// In clock ticks since boot (proc_pid_stat(5), field 22).
    let startTime: UInt64

    /// This process; nil when `/proc` does not tell.
    static var current: WorkerMark? {
        guard let stat = try? KernelFile.read("/proc/self/stat"), let pid = Int32(stat.prefix { $0 != " " }),
            let startTime = startTime(in: stat)
        else { return nil }
        return WorkerMark(pid: pid, startTime: startTime)
    }

    init(pid: Int32, startTime: UInt64) {
        self.pid = pid
        self.startTime = startTime
    }

    /// Reads a note; nil when it is no note of ours.
    init?(alias: String) {
        let words = alias.split(separator: " ")
        guard words.count == 3, words[0] == Self.word, let pid = Int32(words[1]), let start = UInt64(words[2]) else {
            return nil
        }
        self.init(pid: pid, startTime: start)
    }

    /// The note.
    var alias: String { "\(Self.word) \(pid) \(startTime)" }

    /// True while the process lives.
    var isAlive: Bool {
        guard let stat = try? KernelFile.read("/proc/\(pid)/stat") else { return false }
        return Self.startTime(in: stat) == startTime
    }

    private static let word = "trocket-tunnel"

    /// Field 22; the program's name before it may hold anything, so counting starts behind its last parenthesis.
    private static func startTime(in stat: String) -> UInt64? {
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        return fields.count > 19 ? UInt64(fields[19]) : nil
    }
}
