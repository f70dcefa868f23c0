// The verbs `connect`, `confirm` and `disconnect`.

import CommandLine
import Commands
import EngineControl
import JSON
import Linux
import Messages
package import Profiles
package import Store

extension Verb {
    static let connect = Verb(
        VerbSpecification(
            "connect", summary: HelpText.connectSummary, details: HelpText.connectDetails,
            operand: OperandSpecification("LINE", .optional, completion: .line),
            options: [
                OptionSpecification(
                    "mode", value: "rule|global", completion: .words(["rule", "global"]), HelpText.connectMode),
                OptionSpecification("kill-switch", HelpText.killSwitch),
                OptionSpecification("no-kill-switch", HelpText.noKillSwitch),
                OptionSpecification("confirm", value: "SECONDS", HelpText.connectConfirm),
                OptionSpecification("wait", value: "SECONDS", HelpText.connectWait),
            ]),
        check: { command throws(UsageError) in _ = try values(of: command) }
    ) { context, command in
        let asked = try values(of: command)
        let (directory, wanted) = try Connecting.wanted(command, context)
        // Ctrl-C ends the waiting, not the connecting, which is the service's; so it is said.
        let interruption = try Interruption()
        context.isInterrupted = { interruption.hasCome }
        let standing = try Connecting.connect(
            context, directory, line: wanted, mode: asked.mode, killSwitch: asked.killSwitch,
            confirm: asked.confirm, seconds: asked.patience)
        return try conclude(standing, confirm: asked.confirm, context.output)
    }

    private static func values(
        of command: ParsedCommand
    ) throws(UsageError) -> (mode: RoutingMode?, confirm: Int?, patience: Int, killSwitch: Bool?) {
        if command.has("kill-switch"), command.has("no-kill-switch") {
            throw .conflict("--kill-switch", "--no-kill-switch")
        }
        return (
            RoutingMode(lowercase: try command.word("mode", of: ["rule", "global"])),
            try command.integer("confirm", in: 1...86_400), try command.integer("wait", in: 1...3600) ?? 30,
            command.has("kill-switch") ? true : command.has("no-kill-switch") ? false : nil
        )
    }

    /// Says what came of it: proven, or connected to a line that does not answer, which is a failure of its own.
    private static func conclude(_ standing: Standing, confirm: Int?, _ output: Output) throws -> ExitCode {
        let line = standing.lineText
        if let confirm { output.note(Messages.confirmBy(confirm)) }
        guard let milliseconds = standing.proof?.milliseconds else {
            let failure = standing.reason ?? Failure.lineNotAnswering(line, "failed")
            throw failure.with("status", standing.json(output.language))
        }
        if output.json {
            output.result(standing.json(output.language))
        } else {
            output.result(Messages.connected(line, milliseconds))
        }
        for notice in standing.notices { output.note(Text("  · ", "  · ") + notice.text) }
        return .done
    }

    static let confirm = Verb(VerbSpecification("confirm", summary: HelpText.confirmSummary)) { context, _ in
        _ = try context.worker().call(.confirm)
        if context.output.json {
            context.output.result(["confirmed": true])
        } else {
            context.output.result(Messages.confirmed)
        }
        return .done
    }

    static let disconnect = Verb(VerbSpecification("disconnect", summary: HelpText.disconnectSummary)) { context, _ in
        let worker = try context.worker()
        let report = DisconnectReport(json: try worker.call(.disconnect, milliseconds: 60_000))
        let output = context.output
        if output.json {
            output.result(["state": "disconnected", "repaired": .strings(report.repaired)])
            return .done
        }
        output.result(Messages.disconnected)
        if !report.repaired.isEmpty {
            output.note(Messages.repaired(report.repaired.count))
            report.repaired.forEach { output.note(Text(verbatim: "  " + $0)) }
        }
        return .done
    }
}

/// Connecting, for the verb and for the screen.
package enum Connecting {
    /// Milliseconds for the proof.
    private static let proofLimit = 8000

    /// The state directory and the line a `connect` names.
    /// - Throws: `StoreError` without a subscription, `Failure` for a line that is not there.
    static func wanted(
        _ command: ParsedCommand, _ context: Context
    ) throws -> (directory: StateDirectory, line: LineChoice?) {
        let directory = try context.state()
        let state = try directory.load()
        guard let lines = state.subscription?.lines else { throw StoreError.noSubscription }
        _ = try context.wholeProfile(directory, state)
        return (directory, try command.operands.first.map { try LineMatcher(lines).find($0) })
    }

    /// Brings the tunnel up, puts the engine on the chosen line and mode, and proves it. An existing tunnel of ours is kept
    /// and only switched, unless the kill switch or a confirmation is asked for.
    /// - Parameters:
    ///   - line: nil for the one that is remembered when the tunnel is up; another command may choose meanwhile.
    ///   - mode: the same.
    ///   - seconds: how long the worker may take.
    /// - Throws: `Failure`; what was chosen is remembered only once the worker has accepted to connect.
    package static func connect(
        _ context: Context, _ directory: StateDirectory, line: LineChoice?, mode: RoutingMode?, killSwitch: Bool?,
        confirm: Int?, seconds: Int
    ) throws -> Standing {
        var state = try directory.load()
        let worker = try context.worker()
        var status = try worker.status()
        let keepsTunnel = status.state == .connected && status.mine && killSwitch == nil && confirm == nil
        let starting = Starting(context, try line ?? remembered(state), mode ?? state.mode)
        let isNew = status.state != .connected && status.state != .reconnecting
        if !keepsTunnel {
            let options = ConnectOptions(
                // The worker's own memory ends with the boot, and knows nothing of a switch turned while there was no tunnel.
                killSwitch: killSwitch ?? state.preferences.killSwitch, confirmSeconds: confirm,
                domesticAllowed: state.subscription?.domesticAddressesAreDirect ?? false)
            do { status = try up(context, worker, starting, options, seconds) } catch let failure as Failure {
                throw left(by: failure, worker, directory, killSwitch)
            }
        }
        state = try directory.update { state in
            if let mode { state.preferences.mode = mode.lowercase }
            if let line { state.preferences.selection = line.selection }
            if let killSwitch { state.preferences.killSwitch = killSwitch }
            return state
        }
        let (choice, mode) = (try line ?? remembered(state), mode ?? state.mode)
        let tunnel = Tunnel(status, context)
        if let api = tunnel.api {
            // The engine remembers its own last choice; what counts is the one in the state directory.
            if !starting.hasPutInForce(choice, mode) { try Selecting.apply(choice, mode, on: api) }
            try Moding.settleDomestic(for: mode, api, worker, directory, soon: isNew)
        }
        context.output.progress(Messages.proving)
        let standing = Standing(context, tunnel, provingLine: choice.tag, mode: mode, limit: proofLimit)
        if context.isInterrupted() { throw Failure.interrupted(Messages.proofInterrupted) }
        // Another command may have chosen another line meanwhile: what was asked for is then not what is there.
        if let line = standing.engine?.selected, line != choice.tag {
            throw Failure(
                "line-overridden", .failed, Messages.lineOverridden(choice.name, inForce: state.name(ofTag: line)),
                remedy: Messages.lineOverriddenRemedy(choice.name))
        }
        return standing
    }

    private static func remembered(_ state: State) throws -> LineChoice {
        let (choice, gone) = state.chosen()
        guard let gone else { return choice }
        throw Failure("line-gone", .badInput, Messages.lineGone(gone), remedy: Messages.lineGoneRemedy)
    }

    /// The failure of a `connect`, with what it left: the next one must not open a kill switch that this one has closed, and a
    /// host that is closed is said to be.
    private static func left(
        by failure: Failure, _ worker: WorkerClient, _ directory: StateDirectory, _ killSwitch: Bool?
    ) -> Failure {
        guard let status = try? worker.status(), status.mine else { return failure }
        if let killSwitch, status.killSwitch == killSwitch {
            try? directory.update { $0.preferences.killSwitch = killSwitch }
        }
        return status.state == .blocked ? failure.whileBlocked : failure
    }

    /// Asks the worker to connect and shows its stages.
    private static func up(
        _ context: Context, _ worker: WorkerClient, _ starting: Starting, _ options: ConnectOptions, _ seconds: Int
    ) throws -> StatusReport {
        worker.onEvent = { event in
            guard let stage = event.status.stage else { return }
            context.output.progress(Messages.stage(stage.rawValue))
            starting.tryEarly(event.status)
        }
        worker.onIdle = {
            context.output.tick()
            if context.isInterrupted() { throw Failure.interrupted(Messages.connectInterrupted) }
        }
        _ = try worker.call(.subscribe)
        let call = Call.connect(options)
        let answer: JSON
        do { answer = try worker.call(call, milliseconds: seconds * 1000) } catch let failure as Failure
            where failure.code == "worker-timeout"
        {
            throw Failure(
                "connect-timeout", .temporary, Messages.connectTimeout(seconds), remedy: Messages.connectTimeoutRemedy)
        }
        guard let status = StatusReport(json: answer) else { throw Failure.workerUnreadable("connect") }
        return status
    }
}
