// One of our own verbs, run beside the screen.

import JSON
import Linux
import Messages
import Transfer

/// A verb in a child process.
///
/// Why a child and not a call: verbs wait, and an import of thousands of lines needs far more memory than a screen may keep.
/// A child gives the memory back, cannot freeze the screen, is cancelled by a signal, and makes the screen do exactly what
/// the command line does. It costs a few milliseconds.
final class Job {
    /// What the verb said at its end.
    struct Outcome {
        let exit: Int32
        /// The result object, or `{"error": …}`; null when it printed none.
        let value: JSON
    }

    let child: ChildProcess
    private let output: Descriptor
    private var collected: [UInt8] = []
    private var lines = LineBuffer()
    private let isStream: Bool
    private let onLine: ([UInt8]) -> Void
    private let onEnd: (Outcome) -> Void
    /// The most a verb's result may take.
    private static let limit = 64 << 20

    /// Variables a verb may need; nothing else is handed on.
    private static let variables = [
        "PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "TROCKET_SOCKET",
        "TROCKET_ENGINE", "TROCKET_RULE_SETS", "TROCKET_PROBE_URL",
    ]

    /// Starts a verb.
    /// - Parameters:
    ///   - arguments: the verb and what follows it; never a secret.
    ///   - input: given to it on standard input, such as a link.
    ///   - outlives: goes on when the screen ends.
    ///   - onLine: gets each line of a stream; nil collects the result instead.
    /// - Throws: `SystemCallError`.
    init(
        _ arguments: [String], _ context: Context, input: [UInt8]? = nil, outlives: Bool = false,
        onLine: (([UInt8]) -> Void)? = nil, onEnd: @escaping (Outcome) -> Void
    ) throws {
        let pipe = try Pipe()
        // The program as it runs now, even when its file was replaced meanwhile.
        var request = ChildRequest(
            path: "/proc/self/exe",
            arguments: ["trocket-controller"] + arguments
                + (context.stateDirectoryIsGiven ? ["--state-dir", context.stateDirectory] : []))
        request.environment = Self.variables.compactMap { name in context.variable(name).map { "\(name)=\($0)" } }
        request.environment.append("TROCKET_LANG=\(context.language.rawValue)")
        request.noNewPrivileges = false
        if outlives { request.parentDeathSignal = nil }
        request.descriptors[1] = pipe.writer.number
        if let input {
            let feeding = try Pipe()
            request.descriptors[0] = feeding.reader.number
            child = try ChildProcess(starting: request)
            try feeding.writer.setNonBlocking(true)
            Self.feed(input, to: feeding.writer.number)
        } else {
            child = try ChildProcess(starting: request)
        }
        output = pipe.keepingReader()
        try output.setNonBlocking(true)
        isStream = onLine != nil
        self.onLine = onLine ?? { _ in }
        self.onEnd = onEnd
    }

    /// Readable when the verb wrote something or ended.
    var descriptor: Int32 { output.number }

    /// Takes in what was written.
    /// - Returns: false when the verb has ended; its end has been told then.
    func read() -> Bool {
        while true {
            switch (try? readSome(output.number)) ?? .end {
            case .wouldBlock: return true
            case .bytes(let bytes):
                if isStream { lines.add(bytes).forEach(onLine) }
                if collected.count + bytes.count <= Self.limit {
                    collected += isStream ? bytes.suffix(65_536) : bytes[...]
                }
                if isStream, collected.count > 131_072 { collected.removeFirst(collected.count - 65_536) }
            case .end:
                let exit = child.end(graceMilliseconds: 1000) ?? -1
                onEnd(Outcome(exit: exit, value: Self.value(in: collected)))
                return false
            }
        }
    }

    /// Asks the verb to stop.
    func cancel() { child.signal(15) }

    /// What a verb printed: one value, or after the lines of a stream an error.
    static func value(in collected: [UInt8]) -> JSON {
        if let whole = try? JSON.parse(collected) { return whole }
        let last = collected.split(separator: 0x0a).last.map(Array.init) ?? []
        if let value = try? JSON.parse(last) { return value }
        // An error is printed over several lines, after what was streamed before it.
        let text = String(decoding: collected, as: UTF8.self)
        var start = text.endIndex
        while start > text.startIndex {
            start = text.index(before: start)
            if text[start] == "{", start == text.startIndex || text[text.index(before: start)] == "\n",
                let value = try? JSON.parse(Array(text[start...].utf8))
            {
                return value
            }
        }
        return .null
    }

    /// A link fits into the pipe at once; a whole pasted subscription may not, and is cut off by the pipe's size (64 KiB)
    /// unless the verb reads meanwhile.
    private static func feed(_ input: [UInt8], to descriptor: Int32) {
        var rest = input[...]
        let deadline = Moment.now.adding(milliseconds: 2000)
        while !rest.isEmpty, Moment.now < deadline {
            let part = Array(rest.prefix(4096))
            if (try? writeAll(descriptor, part, subject: "a verb's input")) != nil {
                rest = rest.dropFirst(part.count)
            } else {
                _ = wait(for: [(descriptor, .writable)], milliseconds: 100)
            }
        }
    }
}
