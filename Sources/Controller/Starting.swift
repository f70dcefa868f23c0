// What is done with an engine that is ready, while the worker still reads the network back.

import Commands
import EngineControl
import Profiles
import Store
import Transfer

/// Puts the chosen line and mode in force before any traffic comes, and has the proof's name looked up meanwhile: the first
/// question through a cold line takes longer than the reading back.
final class Starting {
    private let context: Context
    private let choice: LineChoice
    private let mode: RoutingMode
    private var isDone = false

    init(_ context: Context, _ choice: LineChoice, _ mode: RoutingMode) {
        self.context = context
        self.choice = choice
        self.mode = mode
    }

    /// Tries while the worker reads everything back: the engine is ready then. What fails is tried again when the tunnel is up,
    /// and told then.
    func tryEarly(_ status: StatusReport) {
        guard !isDone, status.mine, status.stage == .verify, let address = status.api else { return }
        let api = EngineAPI(client: context.client, address: address.address, secret: address.secret)
        // What the engine refuses is told when the tunnel is up.
        do { try Selecting.apply(choice, mode, on: api) } catch { return }
        isDone = true
        guard let name = WebAddress(Proof.url(context.variable))?.host else { return }
        api.startLookingUp(name)
    }

    /// Whether this line and mode are in force.
    func hasPutInForce(_ choice: LineChoice, _ mode: RoutingMode) -> Bool {
        isDone && choice == self.choice && mode == self.mode
    }
}
