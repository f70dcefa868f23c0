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
            ])
    ) { context, command in
        let clears = command.has("clear")
        if clears, command.has("follow") { throw UsageError.conflict("--clear", "--follow") }
        let name = try command.word("source", of: ["worker", "engine", "controller"])
        if clears {
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
        return .done
    }

    /// One log being read: its descriptor and how far it was read.
    private struct OpenLog: ~Copyable {
        let descriptor: Descriptor
        var offset: Int64 = 0
    }

    private static func open(_ source: LogSource?, _ context: Context) throws -> OpenLog {
        if let source { return OpenLog(descriptor: Descriptor(owning: try context.worker().log(source))) }
        guard let file = try ControllerLog.open(context) else {
            throw Failure("no-log", .failed, Messages.noLogYet, remedy: Text("", ""))
        }
        return OpenLog(descriptor: file)
    }

    /// Passes on what the log has beyond the offset.
    private static func pass(_ log: inout OpenLog, _ output: Output) throws {
        while let bytes = try readAt(log.descriptor.number, offset: log.offset), !bytes.isEmpty {
            log.offset += Int64(bytes.count)
            output.raw(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Goes on with what is added. A log the service has moved aside is exchanged for its successor.
    private static func follow(_ log: inout OpenLog, _ source: LogSource?, _ context: Context) throws {
        var quiet = 0
        while true {
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
