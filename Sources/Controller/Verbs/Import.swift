// The verb `import`.

import CommandLine
import Importing
import Messages
import Store

extension Verb {
    static let importSubscription = Verb(
        VerbSpecification(
            "import", summary: HelpText.importSummary, details: HelpText.importDetails,
            operand: OperandSpecification("SOURCE", .one, completion: .file),
            options: [
                OptionSpecification("dry-run", HelpText.dryRun),
                OptionSpecification("agent", value: "UA", HelpText.agent),
            ])
    ) { context, command in
        let source = try context.source(command.operands[0])
        let store = try context.stateForImport()
        let state = try store.load()
        let importer = try context.importer(store: store)
        let agent = command.value("agent")
        let outcome = try importer.run(source, agent: agent, selection: state.preferences.selection)
        let isTrial = command.has("dry-run")
        if isTrial {
            try importer.discard(outcome)
        } else {
            var link: String?
            if case .link(let text, _) = source { link = text }
            try context.put(outcome, by: importer, link: link, agent: agent, in: store)
        }
        ImportPage(outcome, isTrial: isTrial).show(context.output)
        return .done
    }
}
