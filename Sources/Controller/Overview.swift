// The program called without a verb: the screen where there is a terminal, elsewhere how things stand and the help.

import CommandLine
import Linux
import Messages

/// The program called without a verb.
enum Overview {
    /// Shows the screen; where nobody could see one, how things stand in a few lines, then the help.
    static func run(_ context: Context) throws -> ExitCode {
        if Surroundings.isTerminal(0), Surroundings.isTerminal(1) { return try App.run(context) }
        if let tunnel = try? context.tunnel() {
            Standing(context, tunnel, proving: .never).text(context.language).forEach { context.output.result($0) }
            context.output.result("")
        }
        context.output.raw(Program.table.help(language: context.language, width: context.output.columns))
        return .done
    }
}
