// The verb `convert`.

import CommandLine
import Messages

extension Verb {
    static let convert = Verb(
        VerbSpecification(
            "convert", summary: HelpText.convertSummary,
            operand: OperandSpecification("SOURCE", .one, completion: .file),
            options: [
                OptionSpecification("report", value: "FILE", completion: .file, HelpText.reportFile),
                OptionSpecification("migrate-only", HelpText.migrateOnly),
            ])
    ) { context, command in
        throw Failure("not-built", .unavailable, Text("此功能尚未完成。", "This is not built yet."), remedy: Text("", ""))
    }
}
