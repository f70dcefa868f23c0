// The verb `mode`: what goes through the line.

import CommandLine
import Commands
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
        let live = try Selecting.live(context)
        if let live {
            let isAllowed = try directory.load().subscription?.domesticAddressesAreDirect ?? false
            try live.api.setMode(mode.rawValue)
            try settleDomestic(for: mode, live.api, live.worker, isAllowed: isAllowed)
        }
        try directory.update { $0.preferences.mode = mode.lowercase }
        return live != nil
    }

    /// Has the worker send domestic traffic past an engine in Rule mode, and past no other. The engine is switched first: in
    /// Rule mode it would send what comes back into it direct, and keep doing so for conversations under way. When the worker
    /// cannot lead that traffic back, the engine goes back to Rule mode.
    /// - Parameter isAllowed: whether the stored profile lets it. The worker knows only what the profile said that was there
    ///   at the last connect, and the engine may have been started again since.
    static func settleDomestic(
        for mode: RoutingMode, _ api: EngineAPI, _ worker: WorkerClient, isAllowed: Bool
    ) throws {
        if mode == .rule {
            // The engine sends domestic traffic direct, too; going past it is only faster. `status` tells.
            if isAllowed { _ = try? worker.call(.domestic(on: true)) }
            return
        }
        do { _ = try worker.call(.domestic(on: false)) } catch {
            if (try? worker.status())?.domesticFastPath == true { try? api.setMode(RoutingMode.rule.rawValue) }
            throw error
        }
    }

    /// After a new profile was stored: leads domestic traffic into the engine again when that profile does not let it go
    /// past. The engine takes the profile when it is started the next time, which may be after a crash.
    static func followProfile(_ context: Context, domesticAllowed: Bool) {
        guard !domesticAllowed, let worker = try? context.worker() else { return }
        // Where nothing runs, or another user's tunnel does, the worker says so, and nothing goes past.
        _ = try? worker.call(.domestic(on: false))
    }
}
