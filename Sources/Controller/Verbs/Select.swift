// The verb `select`: which line to use.

import CommandLine
import EngineControl
package import JSON
import Messages
import Profiles
package import Store

extension Verb {
    static let select = Verb(
        VerbSpecification(
            "select", summary: HelpText.selectSummary, details: HelpText.selectDetails,
            operand: OperandSpecification("LINE", .one, completion: .line))
    ) { context, command in
        let directory = try context.state()
        guard let lines = try directory.load().subscription?.lines else { throw StoreError.noSubscription }
        let choice = try LineMatcher(lines).find(command.operands[0])
        let isLive = try Selecting.apply(choice, context, directory)
        let output = context.output
        if output.json {
            output.result(["line": Selecting.json(choice), "live": .bool(isLive)])
        } else {
            output.result(isLive ? Messages.switched(choice.name) : Messages.selected(choice.name))
        }
        return .done
    }
}

/// Selecting a line, for the verbs and for the screen.
package enum Selecting {
    /// Switches the running engine first, if there is one of ours, and remembers the choice then: a choice the engine refuses
    /// is not remembered. Connections that are open stay on the line they use.
    /// - Returns: true when a running engine was switched.
    package static func apply(_ choice: LineChoice, _ context: Context, _ directory: StateDirectory) throws -> Bool {
        let api = try live(context)?.api
        if let api { try apply(choice, on: api) }
        try directory.update { $0.preferences.selection = choice.selection }
        return api != nil
    }

    /// Switches a running engine, and its mode where one is given.
    /// - Throws: `Failure` `line-not-running` when it does not know the line.
    static func apply(_ choice: LineChoice, _ mode: RoutingMode? = nil, on api: EngineAPI) throws {
        do throws(EngineFailure) {
            if let mode {
                try api.putInForce(choice.tag, in: ProfileTag.proxy, mode: mode.rawValue)
            } else {
                try api.select(choice.tag, in: ProfileTag.proxy)
            }
        } catch {
            guard case .refused(status: 400, _) = error else { throw error }
            throw Failure(
                "line-not-running", .failed, Messages.lineNotRunning(choice.name),
                remedy: Messages.lineNotRunningRemedy)
        }
    }

    /// The running engine's API, and the worker, when the tunnel is up and ours. A worker that cannot be reached means that nothing runs;
    /// choosing a line must not depend on it.
    static func live(_ context: Context) throws -> (api: EngineAPI, worker: WorkerClient)? {
        guard let worker = try? context.worker(), let api = Tunnel(try worker.status(), context).api else { return nil }
        return (api, worker)
    }

    /// `{"number", "id", "name"}`; number and id are null for `auto`.
    package static func json(_ choice: LineChoice) -> JSON {
        switch choice {
        case .automatic: ["number": nil, "id": nil, "name": "auto"]
        case .line(let line, let number):
            ["number": .int(number), "id": .string(line.identity), "name": .string(line.name)]
        }
    }
}
