// The verb `logs`.

import CommandLine
import Commands
import JSON
import Linux
import Messages

extension Verb {
    static let logs = Verb(
        VerbSpecification(
            "logs", summary: HelpText.logsSummary,
            options: [
                OptionSpecification("follow", HelpText.follow), OptionSpecification("clear", HelpText.clear),
                OptionSpecification(
                    "source", value: "NAME", completion: .words(["worker", "engine", "controller"]), HelpText.logSource),
            ]),
        check: { command throws(UsageError) in _ = try sourceName(command) }
    ) { context, command in
        let name = try sourceName(command)
        if command.has("clear") {
            guard name == nil || name == "controller" else {
                throw Failure(
                    "log-not-ours", .notPermitted, Messages.notOurLog, remedy: Messages.notOurLogRemedy)
            }
            try ControllerLog.clear(context)
            context.output.result(Messages.cleared)
            return .done
        }
        let source = LogSource(rawValue: name ?? "worker")
        var log = try open(source, context)
        try pass(&log, context.output)
        if command.has("follow") { try follow(&log, source, context) }
        log.text.end(on: context.output)
        return .done
    }

    private static func sourceName(_ command: ParsedCommand) throws(UsageError) -> String? {
        if command.has("clear"), command.has("follow") { throw .conflict("--clear", "--follow") }
        return try command.word("source", of: ["worker", "engine", "controller"])
    }

    /// One log being read: its descriptor and how far it was read.
    private struct OpenLog: ~Copyable {
        let descriptor: Descriptor
        var text: LogText
        var offset: Int64 = 0
    }

    private static func open(_ source: LogSource?, _ context: Context) throws -> OpenLog {
        if let source {
            return OpenLog(
                descriptor: Descriptor(owning: try context.worker().log(source)), text: LogText(source.rawValue))
        }
        guard let file = try ControllerLog.open(context) else {
            throw Failure("no-log", .failed, Messages.noLogYet, remedy: Text("", ""))
        }
        return OpenLog(descriptor: file, text: LogText("controller"))
    }

    /// Passes on what the log has beyond the offset.
    private static func pass(_ log: inout OpenLog, _ output: Output) throws {
        while let bytes = try readAt(log.descriptor.number, offset: log.offset), !bytes.isEmpty {
            log.offset += Int64(bytes.count)
            log.text.add(bytes, to: output)
            guard output.lost == nil else { return }
        }
    }

    /// Goes on with what is added. A log the service has moved aside is exchanged for its successor.
    private static func follow(_ log: inout OpenLog, _ source: LogSource?, _ context: Context) throws {
        var quiet = 0
        while context.output.lost == nil {
            _ = wait(for: [], milliseconds: 250)
            let before = log.offset
            try pass(&log, context.output)
            quiet = log.offset == before ? quiet + 1 : 0
            guard quiet == 8 else { continue }
            quiet = 0
            let now = try FileStatus(of: log.descriptor.number, subject: "log")
            guard let other = try? open(source, context),
                let next = try? FileStatus(of: other.descriptor.number, subject: "log"),
                (next.inode, next.device) != (now.inode, now.device) || next.size < log.offset
            else { continue }
            try pass(&log, context.output)
            log = other
        }
    }
}

/// A log's bytes on their way to the output, in whole lines: as they are, or with `--json` one object a line.
struct LogText {
    private let source: String
    private var partial: [UInt8] = []

    /// - Parameter source: whose log it is, for the objects.
    init(_ source: String) { self.source = source }

    /// Passes on the lines that are whole now.
    mutating func add(_ bytes: [UInt8], to output: Output) {
        partial += bytes
        guard let end = partial.lastIndex(of: UInt8(ascii: "\n")) else { return }
        write(partial[...end], output)
        partial.removeSubrange(...end)
    }

    /// Passes on the last line, if its end is missing.
    mutating func end(on output: Output) {
        guard !partial.isEmpty else { return }
        write((partial + [UInt8(ascii: "\n")])[...], output)
        partial = []
    }

    private func write(_ lines: ArraySlice<UInt8>, _ output: Output) {
        guard output.json else { return output.raw(String(decoding: lines, as: UTF8.self)) }
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            output.result(
                ["source": .string(source), "text": .string(String(decoding: line, as: UTF8.self))], pretty: false)
        }
    }
}
