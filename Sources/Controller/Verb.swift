// One verb of the command line: what it takes and what it does. Each lives in a file of its own in Verbs/.

package import CommandLine

/// A verb and its body.
package struct Verb: Sendable {
    /// Its name, operands, options and help.
    package let specification: VerbSpecification
    /// Refuses values the verb cannot take, before anything is looked at or started.
    package let check: @Sendable (ParsedCommand) throws(UsageError) -> Void
    /// Does it. Throws `Failure`, or any error `Failure(describing:)` knows, or `UsageError`.
    package let run: @Sendable (Context, ParsedCommand) throws -> ExitCode

    package init(
        _ specification: VerbSpecification,
        check: @escaping @Sendable (ParsedCommand) throws(UsageError) -> Void = { _ in },
        run: @escaping @Sendable (Context, ParsedCommand) throws -> ExitCode
    ) {
        self.specification = specification
        self.check = check
        self.run = run
    }

    /// Every verb, in the order of the help.
    package static let all: [Verb] = [
        .importSubscription, .update, .convert, .lines, .test, .select, .connect, .confirm, .disconnect, .mode,
        .status, .connections, .logs, .profile, .ruleSets, .doctor, .report, .forget, .completion,
    ]
}
