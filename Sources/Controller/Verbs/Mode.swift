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
        var mode = try directory.load().mode
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
            try live.api.setMode(mode.rawValue)
            try settleDomestic(for: mode, live.api, live.worker, directory)
        } else if mode == .global {
            // The engine that is started next may be in Rule mode still; what it would send goes into it.
            leadIntoEngine(context)
        }
        try directory.update { $0.preferences.mode = mode.lowercase }
        return live != nil
    }

    /// Has the worker send domestic traffic past an engine in Rule mode, and past no other. The engine is switched first: in
    /// Rule mode it would send what comes back into it direct, and keep doing so for conversations under way. When the worker
    /// cannot lead that traffic back, the engine goes back to Rule mode.
    /// - Parameter soon: whether it is enough that it is done in a moment, when the proof of the connection is over.
    static func settleDomestic(
        for mode: RoutingMode, _ api: EngineAPI, _ worker: WorkerClient, _ directory: StateDirectory, soon: Bool = false
    ) throws {
        if mode == .rule {
            // The engine sends domestic traffic direct, too; going past it is only faster. `status` tells.
            guard isAllowed(directory), (try? worker.call(.domestic(on: true, soon: soon))) != nil else { return }
            // Another command may have switched the engine meanwhile, or stored another profile.
            let isStillRule = (try? api.mode()) == RoutingMode.rule.rawValue
            if !isStillRule || !isAllowed(directory) { _ = try? worker.call(.domestic(on: false)) }
            return
        }
        do { _ = try worker.call(.domestic(on: false)) } catch {
            if (try? worker.status())?.domesticFastPath == true { try? api.setMode(RoutingMode.rule.rawValue) }
            throw error
        }
    }

    /// Whether the stored profile sends all domestic addresses direct in Rule mode. The worker knows only what the profile
    /// said that was there at the last connect, and the engine may have been started again since.
    private static func isAllowed(_ directory: StateDirectory) -> Bool {
        (try? directory.load())?.subscription?.domesticAddressesAreDirect ?? false
    }

    /// Leads domestic traffic into the engine again. Where nothing runs, or another user's tunnel does, the worker says so, and
    /// nothing goes past.
    static func leadIntoEngine(_ context: Context) {
        _ = try? context.worker().call(.domestic(on: false))
    }
}
