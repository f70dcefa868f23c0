// The verb `forget`.

import CommandLine
import Messages

extension Verb {
    static let forget = Verb(
        VerbSpecification(
            "forget", summary: HelpText.forgetSummary)
    ) { context, command in
        throw Failure("not-built", .unavailable, Text("此功能尚未完成。", "This is not built yet."), remedy: Text("", ""))
    }
}
