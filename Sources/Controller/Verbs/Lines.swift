// The verb `lines`.

import CommandLine
import Messages

extension Verb {
    static let lines = Verb(
        VerbSpecification(
            "lines", summary: HelpText.linesSummary,
            options: [
                OptionSpecification(
                    "sort", value: "KEY", completion: .words(["latency", "name", "order", "multiplier"]), HelpText.sort),
                OptionSpecification("all", HelpText.allLines),
            ])
    ) { context, command in
        throw Failure("not-built", .unavailable, Text("此功能尚未完成。", "This is not built yet."), remedy: Text("", ""))
    }
}
