// Where the program writes: results to standard output, everything else to standard error.

package import JSON
import Linux
package import Messages

/// The two streams of the program. A class, so that every part of a verb writes in order.
package final class Output {
    /// The language of messages.
    package let language: Language
    /// Results are JSON objects.
    package let json: Bool
    /// Nothing but results and errors.
    package let quiet: Bool
    /// A person watches standard error, so progress may be shown there.
    package let isWatched: Bool
    /// Columns of the terminal on standard output; 80 without one.
    package let columns: Int
    private let writeOutput: (String) throws -> Void
    private let writeError: (String) -> Void
    private var progressWidth = 0
    private var pending: Text?
    private let started = Moment.now
    /// Why standard output takes no more; nil while it does. Nothing further is written there, and the verb cannot succeed.
    package private(set) var lost: (any Error)?

    /// - Parameters:
    ///   - writeOutput: takes what goes to standard output; tests collect it.
    ///   - writeError: takes what goes to standard error.
    package init(
        language: Language, json: Bool, quiet: Bool, isWatched: Bool, columns: Int,
        writeOutput: @escaping (String) throws -> Void, writeError: @escaping (String) -> Void
    ) {
        self.language = language
        self.json = json
        self.quiet = quiet
        self.isWatched = isWatched
        self.columns = columns
        self.writeOutput = writeOutput
        self.writeError = writeError
    }

    /// Writes a line of the result.
    package func result(_ line: String) {
        raw(line + "\n")
    }

    /// Writes a line of the result in the user's language.
    package func result(_ text: Text) { result(text(language)) }

    /// Writes text of the result, such as a log.
    package func raw(_ text: String) { write(Self.harmless(text)) }

    /// Writes a line that commands the terminal: a drawing of this program's own.
    func drawing(_ line: String) { write(line + "\n") }

    /// Writes the result object: indented for a whole result, in one line for an item of a stream.
    package func result(_ value: JSON, pretty: Bool = true) {
        write(Self.replacingControls(value.text(pretty: pretty)) { "\\u00" + String($0.value, radix: 16) } + "\n")
    }

    private func write(_ text: String) {
        clearProgress()
        guard lost == nil else { return }
        do { try writeOutput(text) } catch { lost = error }
    }

    /// Text that others have written, such as names, answers and logs, must not command the terminal: of its controls only
    /// line feeds and tabs arrive.
    static func harmless(_ text: String) -> String { replacingControls(text) { _ in "\u{fffd}" } }

    /// - Parameter replace: what stands for a control character. JSON escapes those below the space by itself.
    private static func replacingControls(_ text: String, _ replace: (Unicode.Scalar) -> String) -> String {
        func isControl(_ value: UInt32) -> Bool {
            value < 0x20 ? value != 0x0a && value != 0x09 : (0x7f...0x9f).contains(value)
        }
        // In UTF-8 those above DEL begin with C2, as little else does.
        guard text.utf8.contains(where: { $0 == 0xc2 || ($0 < 0x80 && isControl(UInt32($0))) }) else { return text }
        var kept = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar.value) { kept += replace(scalar) } else { kept.unicodeScalars.append(scalar) }
        }
        return kept
    }

    /// Says something beside the result. Silent with `--quiet`.
    package func note(_ text: Text) {
        guard !quiet else { return }
        clearProgress()
        writeError(Self.harmless(text(language)) + "\n")
    }

    /// Shows how far a long operation is, on one line that the next call replaces. Only a person sees it, and only once
    /// the verb has taken half a second.
    package func progress(_ text: Text) {
        guard isWatched, !quiet else { return }
        pending = text
        tick()
    }

    /// Shows the latest progress once the verb has taken half a second. To be called while something is waited for.
    package func tick() {
        guard let text = pending, Moment.now.milliseconds(since: started) >= 500 else { return }
        pending = nil
        let line = DisplayWidth.cut(Self.harmless(text(language)), to: max(10, columns - 1))
        let width = DisplayWidth.of(line)
        writeError("\r" + line + String(repeating: " ", count: max(0, progressWidth - width)))
        progressWidth = width
    }

    /// Takes the progress line away. Anything written does so by itself.
    package func clearProgress() {
        pending = nil
        guard progressWidth > 0 else { return }
        writeError("\r" + String(repeating: " ", count: progressWidth) + "\r")
        progressWidth = 0
    }

    /// Says on standard error that the result did not arrive. A reader that went away, such as `head`, needs no telling.
    func reportLoss() {
        guard let error = lost as? SystemCallError, error.errno != .brokenPipe else { return }
        clearProgress()
        writeError("trocket: " + Messages.outputLost(error.errno.text)(language) + "\n")
    }

    /// Writes a failure: as JSON to standard output with `--json`, else in two lines to standard error.
    package func failure(_ failure: Failure) {
        if json {
            result(failure.json(language))
        } else {
            clearProgress()
            writeError("trocket: " + Self.harmless(failure.message(language)) + "\n")
            let remedy = Self.harmless(failure.remedy(language))
            if !remedy.isEmpty { writeError("  → " + remedy + "\n") }
        }
    }
}
