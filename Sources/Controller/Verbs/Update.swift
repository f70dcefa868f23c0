// The verb `update`.

import CommandLine
import Messages

extension Verb {
    static let update = Verb(
        VerbSpecification(
            "update", summary: HelpText.updateSummary)
    ) { context, command in
        throw Failure("not-built", .unavailable, Text("此功能尚未完成。", "This is not built yet."), remedy: Text("", ""))
    }
}
