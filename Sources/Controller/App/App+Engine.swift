// What the screen shows of the engine: rates, totals, the automatic choice, live connections.

import Commands
import Dashboard
import EngineControl
import Linux
import Messages
import Profiles
import Transfer

/// The engine of the connected tunnel and the stream of its rates.
final class EngineFeed {
    let report: APIReport
    let api: EngineAPI
    var traffic = Traffic()
    /// Bytes when the stream began; rates are added from there on.
    var upTotal = 0
    var downTotal = 0
    var token: HTTPClient.Token?

    init(_ report: APIReport, _ api: EngineAPI) {
        self.report = report
        self.api = api
    }
}

extension App {
    /// Listens to this engine, unless it does already.
    func startEngine(_ report: APIReport) {
        if engine?.report == report { return }
        stopEngine()
        let feed = EngineFeed(
            report, EngineAPI(client: context.client, address: report.address, secret: report.secret))
        engine = feed
        if let snapshot = try? feed.api.snapshot(selector: ProfileTag.proxy, automatic: ProfileTag.auto) {
            feed.upTotal = snapshot.traffic.upload
            feed.downTotal = snapshot.traffic.download
            if let mode = Mode(rawValue: snapshot.mode.lowercased()) { tell { $0.mode = mode } }
            showAutomatic(snapshot.automatic)
            after(.automatic, milliseconds: 3000) { [self] in refreshAutomatic() }
        }
        feed.token = feed.api.startTraffic { [unowned self, unowned feed] rate in
            feed.upTotal += rate.up
            feed.downTotal += rate.down
            feed.traffic.add(up: rate.up, down: rate.down, upTotal: feed.upTotal, downTotal: feed.downTotal)
            tell { $0.traffic = feed.traffic }
        } onEnd: { [unowned feed] in
            feed.token = nil
        }
    }

    func stopEngine() {
        guard let feed = engine else { return }
        if let token = feed.token { context.client.cancel(token) }
        engine = nil
        cancelTimer(.automatic)
        tell {
            $0.traffic = nil
            $0.automatic = nil
            $0.connections = []
        }
    }

    /// Asks which line the automatic choice uses, and again every minute while it is the choice: the engine measures anew
    /// every few minutes and tells nobody.
    func refreshAutomatic() {
        guard let feed = engine, dashboard.snapshot.selected == LineItem.automaticID else { return }
        if let group = try? feed.api.group(ProfileTag.auto) { showAutomatic(group.now) }
        after(.automatic, milliseconds: 60_000) { [self] in refreshAutomatic() }
    }

    private func showAutomatic(_ tag: String?) {
        tell { $0.automatic = tag.flatMap { self.lineTags[$0] } }
        proveAnew()
    }

    // MARK: Live connections

    func showConnections() {
        guard let feed = engine else { return tell { $0.connections = [] } }
        if let list = try? feed.api.connections() {
            let shown = list.connections.map { connection in
                LiveConnection(
                    id: connection.id, host: connection.destination, rule: connection.rule,
                    line: connection.chain.first ?? "", up: connection.upload, down: connection.download)
            }
            tell { $0.connections = shown.sorted { ($0.down + $0.up, $0.id) > ($1.down + $1.up, $1.id) } }
        }
        after(.connections, milliseconds: 1000) { [self] in showConnections() }
    }

    func closeConnection(_ id: String?) {
        guard let feed = engine else { return }
        do throws(EngineFailure) {
            if let id { try feed.api.close(connection: id) } else { try feed.api.closeAllConnections() }
        } catch { fail(Failure(describing: error)) }
        showConnections()
    }
}
