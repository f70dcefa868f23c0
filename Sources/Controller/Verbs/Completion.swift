// The verb `completion`: scripts for shells, made from the table of verbs.

import CommandLine
import Messages
import Store

extension Verb {
    static let completion = Verb(
        VerbSpecification(
            "completion", summary: HelpText.completionSummary,
            operand: OperandSpecification(
                "bash|zsh|fish", .one, completion: .words(["bash", "zsh", "fish"]))),
        check: { command throws(UsageError) in
            let word = command.operands.first ?? ""
            guard ["bash", "zsh", "fish", "lines"].contains(word) else {
                throw .badOperand(name: "SHELL", value: word, expected: "bash, zsh, fish")
            }
        }
    ) { context, command in
        switch command.operands[0] {
        case "bash": context.output.raw(Program.table.bashCompletion)
        case "zsh": context.output.raw(Program.table.zshCompletion(context.language))
        case "fish": context.output.raw(Program.table.fishCompletion(context.language))
        // `lines`, called by the scripts: the names of the lines, one a line.
        default:
            for line in (try? context.state().load())?.subscription?.lines ?? [] { context.output.result(line.name) }
        }
        return .done
    }
}
