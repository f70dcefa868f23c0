// The verb `connections`: what goes on in the engine right now.

import CommandLine
import EngineControl
import JSON
import Messages
import Store

extension Verb {
    static let connections = Verb(
        VerbSpecification(
            "connections", summary: HelpText.connectionsSummary,
            options: [OptionSpecification("close", value: "ID|all", HelpText.closeConnection)])
    ) { context, command in
        let (_, api) = try context.connectedAPI()
        let list = try api.connections().connections
        if let wanted = command.value("close") { return try close(wanted, list, api, context.output) }
        let state = try? context.state().load()
        let output = context.output
        func name(_ connection: EngineConnection) -> String {
            guard let tag = connection.chain.first else { return "" }
            return state?.name(ofTag: tag) ?? tag
        }
        if output.json {
            output.result(
                .array(
                    list.map { connection in
                        [
                            "id": .string(connection.id), "network": .string(connection.network),
                            "source": .string(connection.source), "destination": .string(connection.destination),
                            "inbound": .string(connection.inbound), "rule": .string(connection.rule),
                            "line": .string(name(connection)), "upload": .int(connection.upload),
                            "download": .int(connection.download), "start": .string(connection.start),
                        ]
                    }))
            return .done
        }
        let rows = list.map { connection in
            let cells = cells(
                destination: connection.destination, line: name(connection), rule: connection.rule)
            return [String(connection.id.prefix(8)), connection.network] + cells[..<2] + [
                "↑" + Figures.bytes(connection.upload), "↓" + Figures.bytes(connection.download), cells[2],
            ]
        }
        if rows.isEmpty { output.note(Messages.noConnections) }
        Table.lines(rows, right: [4, 5]).forEach { output.result($0) }
        return .done
    }

    /// The cells of a connection that can be of any length, cut to what a table can bear.
    static func cells(destination: String, line: String, rule: String) -> [String] {
        [
            DisplayWidth.cutInside(destination, to: 40), DisplayWidth.cut(line, to: 24),
            DisplayWidth.cut(rule, to: Table.widestName),
        ]
    }

    private static func close(
        _ wanted: String, _ list: [EngineConnection], _ api: EngineAPI, _ output: Output
    ) throws -> ExitCode {
        let chosen = wanted == "all" ? list : list.filter { $0.id.hasPrefix(wanted) }
        if wanted == "all" {
            try api.closeAllConnections()
        } else {
            guard !wanted.isEmpty, chosen.count == 1 else {
                throw Failure(
                    "connection-unknown", .badInput, Messages.connectionUnknown(wanted),
                    remedy: Messages.connectionUnknownRemedy)
            }
            try api.close(connection: chosen[0].id)
        }
        if output.json {
            output.result(["closed": .strings(chosen.map(\.id))])
        } else {
            output.result(Messages.closed(chosen.count))
        }
        return .done
    }
}
