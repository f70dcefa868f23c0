// The verb `lines`.

import CommandLine
import JSON
import Linux
import Messages
import Store
import Subscriptions

extension Verb {
    static let lines = Verb(
        VerbSpecification(
            "lines", summary: HelpText.linesSummary,
            options: [
                OptionSpecification(
                    "sort", value: "KEY", completion: .words(["latency", "name", "order", "multiplier"]), HelpText.sort),
                OptionSpecification("all", HelpText.allLines),
            ]),
        check: { command throws(UsageError) in _ = try sortKey(command) }
    ) { context, command in
        let key = try sortKey(command)
        let state = try context.state().load()
        guard let record = state.subscription else { throw StoreError.noSubscription }
        let list = LineList(record, state: state)
        let entries = list.sorted(by: key)
        let dropped = command.has("all") ? list.dropped : []
        if context.output.json {
            context.output.result(.array((entries + dropped).map(\.json)))
        } else {
            list.show(entries, dropped: dropped, on: context.output)
        }
        return .done
    }

    private static func sortKey(_ command: ParsedCommand) throws(UsageError) -> String {
        try command.word("sort", of: ["latency", "name", "order", "multiplier"]) ?? "order"
    }
}
