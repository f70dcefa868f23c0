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
            columns: Surroundings.columns(of: 1) ?? 80, writeOutput: writeStandardOutput,
            writeError: writeStandardError)
        return run(words, output: output, prepare: Sudo.prepare)
    }

    /// Runs one command line.
    /// - Parameter prepare: called with the verb's name before anything is looked at.
    package static func run(
        _ words: [String], output: Output, prepare: (String?) throws -> Void = { _ in }
    ) -> ExitCode {
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
        do { try prepare(command.verb?.name) } catch {
            let failure = Failure(describing: error)
            output.failure(failure)
            return failure.exit
        }
        return run(command, Context(output: output, stateDirectory: command.value("state-dir")))
    }

    private static func run(_ command: ParsedCommand, _ context: Context) -> ExitCode {
        let name = command.verb?.name ?? ""
        do {
            guard let verb = Verb.all.first(where: { $0.specification == command.verb }) else {
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
