// What the program shows without a verb where it cannot show the screen.

import CommandLine
import Messages

/// The program called without a verb.
enum Overview {
    /// Prints the help.
    static func run(_ context: Context) throws -> ExitCode {
        context.output.raw(Program.table.help(language: context.language, width: context.output.columns))
        return .done
    }
}
