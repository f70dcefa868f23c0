// The verb `status`.

import CommandLine
import Commands
import EngineControl
import JSON
import Linux
import Messages
import Store
import Transfer

extension Verb {
    static let status = Verb(
        VerbSpecification(
            "status", summary: HelpText.statusSummary, details: HelpText.statusDetails,
            options: [
                OptionSpecification("watch", HelpText.watch), OptionSpecification("network", HelpText.network),
                OptionSpecification("proof", HelpText.proof),
            ])
    ) { context, command in
        let worker = try context.worker()
        let proving: Standing.Proving = command.has("proof") ? .always(8000) : .inPassing
        let tunnel = Tunnel(try worker.status(network: command.has("network")), context)
        let standing = Standing(context, tunnel, proving: proving)
        show(standing, context.output, pretty: !command.has("watch"))
        if command.has("watch") { try watch(context, standing) }
        return .done
    }

    private static func show(_ standing: Standing, _ output: Output, pretty: Bool) {
        if output.json {
            output.result(standing.json(output.language), pretty: pretty)
        } else {
            standing.text(output.language).forEach { output.result($0) }
        }
    }

    /// Shows the state again whenever it, the line or the mode changes, and the rates every second while there is an engine.
    private static func watch(_ context: Context, _ first: Standing) throws {
        let worker = try context.worker()
        var shown = first.status
        var latest = first.status
        worker.onEvent = { latest = $0.status }
        _ = try worker.call(.subscribe)
        var rate: TrafficRate?
        var stream: (token: HTTPClient.Token, address: String)?
        // Without a directory nothing was ever chosen.
        let changes = try? DirectoryWatch(context.stateDirectory)
        var choice = first.choice
        while context.output.lost == nil {
            let tunnel = Tunnel(latest, context)
            let address = tunnel.api == nil ? nil : latest.api?.address
            if stream?.address != address {
                if let stream { context.client.cancel(stream.token) }
                stream = nil
                if let api = tunnel.api, let address {
                    stream = (
                        api.startTraffic {
                            rate = $0
                        } onEnd: {
                        }, address
                    )
                }
            }
            // Lines and modes are switched in the engine, of which the worker does not hear; what is stored then tells.
            let isSwitched =
                changes?.changes().contains(StateDirectory.stateFile) == true
                && Standing(context, tunnel, proving: .never).choice != choice
            if latest != shown || isSwitched {
                let standing = Standing(context, tunnel, proving: .inPassing)
                show(standing, context.output, pretty: false)
                shown = latest
                choice = standing.choice
            }
            let others = [worker.descriptor, changes?.descriptor.number].compactMap { $0 }
            let ready = context.client.wait(milliseconds: 60_000, also: others.map { ($0, .readable) })
            if ready.first?.isEmpty == false { try worker.readEvents() }
            if let now = rate { showRates(now, context.output, shown) }
            rate = nil
        }
    }

    private static func showRates(_ rate: TrafficRate, _ output: Output, _ status: StatusReport) {
        if output.json {
            output.result(
                ["state": .string(status.state.rawValue), "traffic": ["up": .int(rate.up), "down": .int(rate.down)]],
                pretty: false)
        } else {
            let up = Figures.bytes(rate.up)
            let down = Figures.bytes(rate.down)
            if output.isWatched {
                output.progress(Text("↑\(up)/s ↓\(down)/s", "↑\(up)/s ↓\(down)/s"))
            } else {
                output.result("↑\(up)/s ↓\(down)/s")
            }
        }
    }
}
