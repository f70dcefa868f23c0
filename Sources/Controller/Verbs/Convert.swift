// The verb `convert`.

import CommandLine
import EngineControl
import ImportReport
import Importing
import JSON
import Linux
import Messages

extension Verb {
    static let convert = Verb(
        VerbSpecification(
            "convert", summary: HelpText.convertSummary,
            operand: OperandSpecification("SOURCE", .one, completion: .file),
            options: [
                OptionSpecification("report", value: "FILE", completion: .file, HelpText.reportFile),
                OptionSpecification("migrate-only", HelpText.migrateOnly),
            ])
    ) { context, command in
        let source = try context.source(command.operands[0])
        let importer = try context.importer(store: nil)
        let profile: JSON
        let report: JSON
        if command.has("migrate-only") {
            let migrated = try importer.migrate(source)
            profile = migrated.document
            report = [
                "format": "sing-box",
                "changes": .array(
                    migrated.changes.map {
                        ["where": .string($0.place), "what": .string($0.what), "reason": .string($0.reason)]
                    }),
            ]
            context.output.note(
                Text("迁移改动 \(migrated.changes.count) 处。", "The migrations changed \(migrated.changes.count) places."))
        } else {
            let outcome = try importer.run(source)
            profile = outcome.profile
            report = outcome.report
            context.output.note(
                Text(
                    "\(outcome.lines.count) 条线路，未用 \(outcome.dropped.count) 条。",
                    "\(outcome.lines.count) lines, \(outcome.dropped.count) not usable."))
        }
        if let file = command.value("report") {
            try UserFile.write(file, Array((report.text(pretty: true) + "\n").utf8))
        }
        context.output.result(profile)
        return .done
    }
}
