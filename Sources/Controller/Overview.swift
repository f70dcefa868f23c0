// What the program shows without a verb where it cannot show the screen.

import CommandLine
import Messages

/// The program called without a verb.
enum Overview {
    /// Shows how things stand in a few lines, then the help.
    static func run(_ context: Context) throws -> ExitCode {
        if let tunnel = try? context.tunnel() {
            Standing(context, tunnel, proving: .never).text(context.language).forEach { context.output.result($0) }
            context.output.result("")
        }
        context.output.raw(Program.table.help(language: context.language, width: context.output.columns))
        return .done
    }
}
