// The tunnel as the verbs see it: the worker's state and, for its owner, the engine's control API.

package import Commands
package import EngineControl
import Messages
import Profiles
package import Store

/// What the worker said, with the way to the engine.
package struct Tunnel {
    /// The worker's word.
    package let status: StatusReport
    /// The engine's control API; nil when it does not run or belongs to somebody else.
    package let api: EngineAPI?

    init(_ status: StatusReport, _ context: Context) {
        self.status = status
        let hasEngine = status.state == .connected || status.state == .reconnecting
        api =
            hasEngine
            ? status.api.map { EngineAPI(client: context.client, address: $0.address, secret: $0.secret) } : nil
    }
}

extension Context {
    /// The tunnel as it is now.
    /// - Throws: `Failure` when the worker cannot be asked.
    package func tunnel() throws -> Tunnel { Tunnel(try worker().status(), self) }

    /// The tunnel as it is now; nil when there is no worker, and then there is no tunnel either.
    package func tunnelIfServed() throws -> Tunnel? {
        do { return try tunnel() } catch let failure as Failure where failure.code == "worker-not-running" {
            return nil
        }
    }

    /// The control API of a connected tunnel of one's own.
    /// - Throws: `Failure` `not-connected` (exit 2) or `not-owner`.
    package func connectedAPI() throws -> (tunnel: Tunnel, api: EngineAPI) {
        let tunnel = try tunnel()
        guard tunnel.status.state == .connected else { throw Failure.notConnected(tunnel.status) }
        guard let api = tunnel.api else { throw Failure.notOwner }
        return (tunnel, api)
    }

    /// The user's state directory.
    package func state() throws(StoreError) -> StateDirectory { try StateDirectory(stateDirectory) }
}

extension Failure {
    static func notConnected(_ status: StatusReport) -> Failure {
        Failure(
            "not-connected", .notConnected, Messages.notConnected(status.state.rawValue),
            remedy: Messages.notConnectedRemedy)
    }

    static let notOwner = worker(Commands.Failure(.notOwner, "The tunnel belongs to another user."))
}

extension State {
    /// The mode the user chose.
    var mode: RoutingMode { RoutingMode(lowercase: preferences.mode) ?? .rule }

    /// What the user chose, as it is in the list now.
    /// - Returns: `gone` names a chosen line that is no longer there.
    func chosen() -> (choice: LineChoice, gone: String?) {
        guard let selection = preferences.selection else { return (.automatic, nil) }
        let lines = subscription?.lines ?? []
        guard let position = lines.firstIndex(where: { $0.identity == selection.identity }) else {
            return (.automatic, selection.name)
        }
        return (.line(lines[position], number: position + 1), nil)
    }

    /// The name of a line by the engine's tag; the tag itself when it is none of the lines.
    func name(ofTag tag: String) -> String { subscription?.lines.first { $0.tag == tag }?.name ?? tag }
}
