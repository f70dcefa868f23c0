// The verb `mode`: what goes through the line.

import CommandLine
import EngineControl
import JSON
import Messages
package import Profiles
package import Store

extension Verb {
    static let mode = Verb(
        VerbSpecification(
            "mode", summary: HelpText.modeSummary,
            operand: OperandSpecification("rule|global", .optional, completion: .words(["rule", "global"]))),
        check: { command throws(UsageError) in _ = try wanted(command) }
    ) { context, command in
        let directory = try context.state()
        let output = context.output
        var mode = RoutingMode(lowercase: try directory.load().preferences.mode) ?? .rule
        var isLive = false
        if let chosen = try wanted(command) {
            mode = chosen
            isLive = try Moding.apply(chosen, context, directory)
        }
        if output.json {
            output.result(["mode": .string(mode.lowercase), "live": .bool(isLive)])
        } else {
            output.result(Messages.mode(mode.lowercase))
        }
        return .done
    }

    private static func wanted(_ command: ParsedCommand) throws(UsageError) -> RoutingMode? {
        guard let word = command.operands.first else { return nil }
        guard let mode = RoutingMode(lowercase: word) else {
            throw .badOperand(name: "MODE", value: word, expected: "rule, global")
        }
        return mode
    }
}

extension RoutingMode {
    /// From the word people use: `rule` or `global`, whatever its case.
    package init?(lowercase word: String?) {
        guard let mode = Self.allCases.first(where: { $0.lowercase == word?.lowercased() }) else { return nil }
        self = mode
    }

    /// The word people use.
    package var lowercase: String { rawValue.lowercased() }
}

/// Switching the mode, for the verbs and for the screen.
package enum Moding {
    /// Switches the running engine, if there is one of ours, and remembers the choice.
    /// - Returns: true when a running engine was switched.
    package static func apply(_ mode: RoutingMode, _ context: Context, _ directory: StateDirectory) throws -> Bool {
        let api = try Selecting.liveAPI(context)
        try api?.setMode(mode.rawValue)
        try directory.update { $0.preferences.mode = mode.lowercase }
        return api != nil
    }
}
