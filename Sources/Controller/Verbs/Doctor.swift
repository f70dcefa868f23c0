// The verb `doctor`: one line a check, and whether it could connect.

import CommandLine
import JSON
package import Messages

extension Verb {
    static let doctor = Verb(VerbSpecification("doctor", summary: HelpText.doctorSummary)) { context, _ in
        let output = context.output
        var checks: [Check] = []
        let examination = Examination(context) { check in
            checks.append(check)
            if !output.json { check.text(output.language).forEach { output.result($0) } }
        }
        examination.run()
        let isReady = !checks.contains { $0.verdict == .failed }
        if output.json {
            output.result(["ready": .bool(isReady), "checks": .array(checks.map { $0.json(output.language) })])
        } else {
            output.result(isReady ? Messages.ready : Messages.notReady)
        }
        return isReady ? .done : .failed
    }
}

/// One check of `doctor`.
package struct Check: Hashable, Sendable {
    /// How a check ended.
    package enum Verdict: String, Sendable {
        case ok
        /// It works, with less.
        case warning
        /// Connecting would fail.
        case failed
        /// Good to know.
        case fact

        var mark: String {
            switch self {
            case .ok: "✓"
            case .warning: "!"
            case .failed: "✗"
            case .fact: "·"
            }
        }
    }

    /// Stable, in kebab case.
    package let code: String
    /// How it ended.
    package let verdict: Verdict
    /// What was found, in one sentence.
    package let message: Text
    /// What to do about it; nil when nothing is to be done.
    package let remedy: Text?

    package init(_ code: String, _ verdict: Verdict, _ message: Text, remedy: Text? = nil) {
        self.code = code
        self.verdict = verdict
        self.message = message
        self.remedy = remedy
    }

    /// A check that failed by an error.
    package init(_ code: String, _ failure: Failure) {
        self.init(code, .failed, failure.message, remedy: failure.remedy)
    }

    func json(_ language: Language) -> JSON {
        [
            "code": .string(code), "verdict": .string(verdict.rawValue), "message": .string(message(language)),
            "remedy": .optional(remedy?(language)),
        ]
    }

    func text(_ language: Language) -> [String] {
        var lines = ["\(verdict.mark) \(message(language))"]
        if let remedy = remedy?(language), !remedy.isEmpty { lines.append("    → " + remedy) }
        return lines
    }
}
