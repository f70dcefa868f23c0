// The places log lines go to.

package import Linux

/// Keeps lines in memory, for tests and for the last lines of a report.
package final class MemorySink: LogSink {
    /// What was written, the newest last.
    package private(set) var lines: [String] = []
    package init() {}
    /// Takes one line without its line feed.
    package func write(_ line: String) { lines.append(line) }
}

/// Writes lines to a file that is moved aside once full, so that a log never takes more than twice its limit.
package final class FileSink: LogSink {
    private let directory: Directory
    private let name: String
    private let limit: Int
    private let mode: UInt32
    private var file: Descriptor?
    private var size = 0

    /// - Parameters:
    ///   - directory: where the log lives.
    ///   - name: the file's name; the older half is `name.1`.
    ///   - limit: bytes before the file is moved aside.
    /// - Throws: `SystemCallError` when the file cannot be opened.
    package init(
        directory: consuming Directory, name: String, limit: Int = 1 << 20, mode: UInt32 = 0o600
    ) throws(SystemCallError) {
        let file = try directory.openForAppending(name, mode: mode)
        size = Int(try FileStatus(of: file.number, subject: name).size)
        self.directory = directory
        self.name = name
        self.limit = limit
        self.mode = mode
        self.file = consume file
    }

    /// Takes one line without its line feed.
    package func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        if size + bytes.count > limit { rotate() }
        // Once it could not be opened; perhaps there was no room, or no descriptor left.
        if number == nil { open() }
        // A log that cannot be written must not stop the program it reports on.
        guard case .some(let descriptor) = number else { return }
        if (try? writeAll(descriptor, bytes)) != nil { size += bytes.count }
    }

    private var number: Int32? {
        switch file {
        case .some(let file): file.number
        case .none: nil
        }
    }

    private func rotate() {
        guard (try? directory.rename(name, to: name + ".1")) != nil else { return }
        file = nil
        open()
    }

    private func open() {
        guard let opened = try? directory.openForAppending(name, mode: mode) else { return }
        size = Int((try? FileStatus(of: opened.number, subject: name).size) ?? 0)
        file = consume opened
    }
}
