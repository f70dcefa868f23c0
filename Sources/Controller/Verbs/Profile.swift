// The verb `profile`.

import CommandLine
import Importing
import JSON
import Messages
import Store

extension Verb {
    static let profile = Verb(
        VerbSpecification(
            "profile", summary: HelpText.profileSummary, details: HelpText.profileDetails,
            options: [
                OptionSpecification("redact", HelpText.redact), OptionSpecification("qr", HelpText.linkCode),
                OptionSpecification("force", HelpText.forceCode),
            ]),
        check: { command throws(UsageError) in
            if command.has("qr"), command.has("redact") { throw .conflict("--qr", "--redact") }
        }
    ) { context, command in
        if command.has("qr") {
            try LinkCode.show(context, isForced: command.has("force"))
            return .done
        }
        let store = try context.state()
        let bytes = try context.wholeProfile(store, store.load())
        let profile = try JSON.parse(bytes)
        context.output.result(command.has("redact") ? ProfileRedaction.redact(profile) : profile)
        return .done
    }
}
