// The verb `profile`.

import CommandLine
import Messages

extension Verb {
    static let profile = Verb(
        VerbSpecification(
            "profile", summary: HelpText.profileSummary, options: [OptionSpecification("redact", HelpText.redact)])
    ) { context, command in
        throw Failure("not-built", .unavailable, Text("此功能尚未完成。", "This is not built yet."), remedy: Text("", ""))
    }
}
