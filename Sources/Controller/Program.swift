// The whole program: words in, exit status out.

package import CommandLine
import Linux
import Messages

/// `trocket-controller`.
package enum Program {
    /// The release, as `--version` prints it.
    package static let version = "0.1.0"

    /// The command line.
    package static let table = CommandTable(
        program: "trocket-controller", summary: HelpText.program, verbs: Verb.all.map(\.specification),
        common: [
            OptionSpecification("json", HelpText.json), OptionSpecification("quiet", HelpText.quiet),
            OptionSpecification("state-dir", value: "DIR", completion: .directory, HelpText.stateDirectory),
            OptionSpecification("help", HelpText.help), OptionSpecification("version", HelpText.version),
        ], epilogue: HelpText.epilogue)

    /// Runs one command line with the process's own surroundings.
    /// - Parameter words: what follows the program's name.
    package static func run(_ words: [String]) -> ExitCode {
        let output = Output(
            language: Language(environment: Surroundings.variable), json: words.contains("--json"),
            quiet: words.contains("--quiet"), isWatched: Surroundings.isTerminal(2),
            columns: Surroundings.columns(of: 1) ?? 80, writeOutput: { try writeStandardOutput($0) },
            writeError: writeStandardError)
        return run(words, output: output, prepare: Sudo.prepare)
    }

    /// Runs one command line.
    /// - Parameters:
    ///   - variable: looks up an environment variable.
    ///   - prepare: called with the command once its words and values are known to be right.
    package static func run(
        _ words: [String], output: Output, variable: @escaping (String) -> String? = Surroundings.variable,
        prepare: (ParsedCommand, Output) throws -> Void = { _, _ in }
    ) -> ExitCode {
        let exit = perform(words, output, variable, prepare)
        guard output.lost != nil else { return exit }
        output.reportLoss()
        return exit == .done ? .failed : exit
    }

    private static func perform(
        _ words: [String], _ output: Output, _ variable: @escaping (String) -> String?,
        _ prepare: (ParsedCommand, Output) throws -> Void
    ) -> ExitCode {
        // `help VERB` is `VERB --help`.
        let words = words.first == "help" ? Array(words.dropFirst()) + ["--help"] : words
        let command: ParsedCommand
        do throws(UsageProblem) { command = try table.parse(words) } catch {
            return report(error, to: output)
        }
        if command.has("version") {
            output.result("trocket-controller \(version)")
            return .done
        }
        if command.has("help") {
            output.raw(
                command.verb.map { table.help(of: $0, language: output.language, width: output.columns) }
                    ?? table.help(language: output.language, width: output.columns))
            return .done
        }
        do throws(UsageError) { try check(command) } catch {
            return report(UsageProblem(error, verb: command.verb), to: output)
        }
        do { try prepare(command, output) } catch {
            let failure = Failure(describing: error)
            output.failure(failure)
            return failure.exit
        }
        return run(command, Context(output: output, variable: variable, stateDirectory: command.value("state-dir")))
    }

    private static func verb(of command: ParsedCommand) -> Verb? {
        Verb.all.first { $0.specification == command.verb }
    }

    private static func check(_ command: ParsedCommand) throws(UsageError) {
        if let path = command.value("state-dir"), path.isEmpty {
            throw .badValue(option: "state-dir", value: path, expected: "DIR")
        }
        try verb(of: command)?.check(command)
    }

    private static func run(_ command: ParsedCommand, _ context: Context) -> ExitCode {
        let name = command.verb?.name ?? ""
        do {
            guard let verb = verb(of: command) else {
                return try Overview.run(context)
            }
            let exit = try verb.run(context, command)
            context.output.clearProgress()
            ControllerLog.note(name, exit, code: nil, context)
            return exit
        } catch let error as UsageError {
            return report(UsageProblem(error, verb: command.verb), to: context.output)
        } catch {
            let failure = Failure(describing: error)
            context.output.failure(failure)
            ControllerLog.note(name, failure.exit, code: failure.code, context)
            return failure.exit
        }
    }

    private static func report(_ problem: UsageProblem, to output: Output) -> ExitCode {
        output.failure(Failure("usage", .usage, problem.error.message, remedy: table.remedy(for: problem)))
        return .usage
    }
}
