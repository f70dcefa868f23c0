// The one form every failure takes before a person or a program sees it.

package import JSON
package import Messages

/// A verb that failed: a stable code, one sentence, what the user can do, and how the program ends.
package struct Failure: Error, Hashable, Sendable {
    /// Stable, in kebab case: `worker-not-running`.
    package let code: String
    /// The program's exit status.
    package let exit: ExitCode
    /// One sentence. Never holds a secret.
    package let message: Text
    /// What the user can do.
    package let remedy: Text
    /// More members of the JSON error object, such as the candidates of an ambiguous name.
    package var more: [(String, JSON)] { details.members.map { ($0.key, $0.value) } }
    private let details: JSONObject

    package init(
        _ code: String, _ exit: ExitCode, _ message: Text, remedy: Text, more: [(String, JSON)] = []
    ) {
        self.code = code
        self.exit = exit
        self.message = message
        self.remedy = remedy
        details = JSONObject(more)
    }

    /// Ctrl-C.
    static func interrupted(_ message: Text) -> Failure {
        Failure("interrupted", .interrupted, message, remedy: Messages.interruptedRemedy)
    }

    /// The same with one more member of the JSON error object.
    package func with(_ key: String, _ value: JSON) -> Failure {
        Failure(code, exit, message, remedy: remedy, more: more + [(key, value)])
    }

    /// `{"error": {"code", "message", "remedy"}}`.
    package func json(_ language: Language) -> JSON {
        var error: JSON = [
            "code": .string(code), "message": .string(message(language)), "remedy": .string(remedy(language)),
        ]
        for (key, value) in more { error[key] = value }
        return ["error": error]
    }
}
