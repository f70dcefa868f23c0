// The verb `rule-sets`.

import CommandLine
import Messages

extension Verb {
    static let ruleSets = Verb(
        VerbSpecification(
            "rule-sets", summary: HelpText.ruleSetsSummary, options: [OptionSpecification("refresh", HelpText.refresh)])
    ) { context, command in
        throw Failure("not-built", .unavailable, Text("此功能尚未完成。", "This is not built yet."), remedy: Text("", ""))
    }
}
