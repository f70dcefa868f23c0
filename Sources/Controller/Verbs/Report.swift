// The verb `report`: everything a bug report needs, every secret removed.

import CommandLine
import Commands
import JSON
import Linux
import Messages
import Store

extension Verb {
    static let report = Verb(VerbSpecification("report", summary: HelpText.reportSummary)) { context, _ in
        let state = (try? context.state().load()) ?? State()
        let profile = (try? context.state().profile()).flatMap { try? JSON.parse($0) }
        let redaction = Redaction(state: state, profile: profile)
        var sections: [(title: String, text: String)] = [("trocket-controller", Program.version)]
        sections.append(("system", system()))
        sections.append(("doctor", doctor(context)))
        sections.append(("status", status(context)))
        sections.append(("subscription", subscription(state)))
        for source in LogSource.allCases {
            sections.append(("log of \(source.rawValue)", lastLines(try? context.worker().log(source), source)))
        }
        sections.append(("log of controller", lastLines((try? ControllerLog.open(context))?.release(), nil)))
        let output = context.output
        if output.json {
            output.result(
                .object(
                    JSONObject(
                        sections.map { section in
                            let text = redaction(section.text)
                            // The status is an object, as `status --json` prints it; a failure to ask for it is a sentence.
                            let object = section.title == "status" ? try? JSON.parse(Array(text.utf8)) : nil
                            return (section.title, object ?? .string(text))
                        })))
        } else {
            for section in sections { output.result("## \(section.title)\n\n\(redaction(section.text))\n") }
        }
        output.note(Messages.reportNote)
        return .done
    }

    private static func system() -> String {
        let release = Surroundings.contents(of: "/etc/os-release") ?? ""
        let name = release.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") } ?? ""
        let kernel = Surroundings.contents(of: "/proc/sys/kernel/osrelease") ?? ""
        return "\(name)\n\(kernel)Landlock ABI \(Landlock.version)"
    }

    private static func doctor(_ context: Context) -> String {
        var lines: [String] = []
        Examination(context) { lines += $0.text(.english) }.run()
        return lines.joined(separator: "\n")
    }

    private static func status(_ context: Context) -> String {
        do {
            let tunnel = try context.tunnel()
            return Standing(context, tunnel, proving: .never).json(.english).text(pretty: true)
        } catch {
            return Failure(describing: error).message.english
        }
    }

    /// What the subscription is made of, without what is in it.
    private static func subscription(_ state: State) -> String {
        guard let subscription = state.subscription else { return "none" }
        var types: [String: Int] = [:]
        for line in subscription.lines { types[line.type, default: 0] += 1 }
        let counts = types.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "format: \(subscription.format)\nengine: \(subscription.engine)\n" + counts.joined(separator: "\n")
            + dropped(subscription.report["dropped"].listed)
    }

    /// What could not be used and why, every kind of it, without names.
    static func dropped(_ lines: [JSON]) -> String {
        var kinds: [String: Int] = [:]
        for line in lines {
            let words = ["type", "reason", "field"].map { line[$0].string ?? "-" }
            kinds[words.joined(separator: " "), default: 0] += 1
        }
        let rows = kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\n  \($0.key): \($0.value)" }
        return rows.isEmpty ? "" : "\ndropped (type, reason, field): \(lines.count)" + rows.joined()
    }

    /// The end of a log; of the engine's only what went wrong, for the rest tells where somebody has been.
    private static func lastLines(_ descriptor: Int32?, _ source: LogSource?) -> String {
        guard let descriptor else { return "not available" }
        let file = Descriptor(owning: descriptor)
        let size = (try? FileStatus(of: file.number, subject: "log").size) ?? 0
        guard let bytes = try? readAt(file.number, offset: max(0, size - 65_536)) else { return "not available" }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { line in
            source != .engine || ["WARN", "ERROR", "FATAL", "PANIC"].contains { line.contains($0) }
        }
        return lines.suffix(100).joined(separator: "\n")
    }
}
