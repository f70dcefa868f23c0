// The verb `import`.

import CommandLine
import Messages

extension Verb {
    static let importSubscription = Verb(
        VerbSpecification(
            "import", summary: HelpText.importSummary, details: HelpText.importDetails,
            operand: OperandSpecification("SOURCE", .one, completion: .file),
            options: [
                OptionSpecification("dry-run", HelpText.dryRun),
                OptionSpecification("agent", value: "UA", HelpText.agent),
            ])
    ) { context, command in
        throw Failure("not-built", .unavailable, Text("此功能尚未完成。", "This is not built yet."), remedy: Text("", ""))
    }
}
