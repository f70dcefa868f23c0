// The verb `profile`.

import CommandLine
import Importing
import JSON
import Messages
import Store

extension Verb {
    static let profile = Verb(
        VerbSpecification(
            "profile", summary: HelpText.profileSummary, options: [OptionSpecification("redact", HelpText.redact)])
    ) { context, command in
        let bytes = try context.state().profile()
        let profile = try JSON.parse(bytes)
        context.output.result(command.has("redact") ? ProfileRedaction.redact(profile) : profile)
        return .done
    }
}
