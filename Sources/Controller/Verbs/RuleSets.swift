// The verb `rule-sets`.

import CommandLine
import Importing
import JSON
import Messages
import RuleSets
import Store

extension Verb {
    static let ruleSets = Verb(
        VerbSpecification(
            "rule-sets", summary: HelpText.ruleSetsSummary, options: [OptionSpecification("refresh", HelpText.refresh)])
    ) { context, command in
        let store = try context.state()
        let state = try store.load()
        guard let record = state.subscription else { throw StoreError.noSubscription }
        var report = record.report["ruleSets"]
        if command.has("refresh") {
            // The profile is made anew, so that a set that comes back brings its rules back.
            report = try context.remake(store, state).report["ruleSets"]
        }
        if context.output.json {
            context.output.result(report)
        } else {
            let sets = report.listed.compactMap { RuleSetReport(json: $0) }
            for row in Table.lines(sets.map { ImportPage.row($0, context.language) }, right: [2]) {
                context.output.result(row)
            }
        }
        return .done
    }
}
