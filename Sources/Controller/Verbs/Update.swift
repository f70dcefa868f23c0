// The verb `update`.

import CommandLine
import Importing
import Messages
import Store

extension Verb {
    static let update = Verb(
        VerbSpecification(
            "update", summary: HelpText.updateSummary)
    ) { context, command in
        let store = try context.state()
        try store.requireWritable()
        let state = try store.load()
        guard let record = state.subscription else { throw StoreError.noSubscription }
        let importer = try context.importer(store: store)
        var outcome: ImportOutcome
        if let link = record.link {
            outcome = try importer.run(
                .link(link, title: nil), agent: record.agent, selection: state.preferences.selection)
            outcome.title = outcome.title ?? record.title
        } else {
            // It came from a file or standard input: made anew from what was kept, for this engine.
            outcome = try importer.remake(record, from: store, selection: state.preferences.selection)
        }
        try context.put(outcome, by: importer, link: record.link, agent: record.agent, in: store)
        ImportPage(outcome, isTrial: false).show(context.output)
        return .done
    }
}
