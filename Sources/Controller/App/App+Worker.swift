// What the screen shows of the tunnel: the worker's events.

import Commands
import Dashboard
import JSON
import Linux
import Messages

extension App {
    /// Milliseconds until the worker is looked for again when there is none.
    private static let patience = 5000

    /// Connects to the worker and subscribes to the tunnel's state.
    func connectToWorker() {
        cancelTimer(.worker)
        lookedForWorker = Moment.now
        do {
            let worker = try context.worker()
            worker.onEvent = { [unowned self] event in show(event.status) }
            self.worker = worker
            _ = try worker.call(.subscribe, milliseconds: 1000)
            show(try worker.status())
        } catch {
            loseWorker(Failure(describing: error))
        }
    }

    /// Looks for a missing worker now instead of later: somebody is at the keyboard.
    func retryWorker() {
        let connection = dashboard.snapshot.connection
        // One that is there and does not answer would hold up every key.
        guard worker == nil, connection.phase == .unavailable, connection.problem?.code != "worker-timeout",
            Moment.now.milliseconds(since: lookedForWorker) >= 500
        else { return }
        connectToWorker()
    }

    func readWorker() {
        do { try worker?.readEvents() } catch { loseWorker(Failure(describing: error)) }
        markDirty()
    }

    private func loseWorker(_ failure: Failure) {
        worker = nil
        stopEngine()
        tell {
            $0.connection = Connection(.unavailable)
            $0.connection.problem = Problem(
                code: failure.code, message: failure.message, remedy: failure.remedy)
        }
        after(.worker, milliseconds: Self.patience) { [self] in connectToWorker() }
    }

    private func show(_ status: StatusReport) {
        let before = dashboard.snapshot.connection
        var connection = Connection(Connection.Phase(rawValue: status.state.rawValue) ?? .unknown)
        connection.stage = status.stage?.rawValue
        connection.since = status.since.map(Double.init)
        connection.confirmBy = status.confirmBy.map(Double.init)
        connection.isMine = status.mine || status.owner == nil
        connection.proof = status.state == .connected ? before.proof : .none
        if let failure = Failure.reason(status) ?? Failure.diverted(status) {
            connection.problem = Problem(code: failure.code, message: failure.message, remedy: failure.remedy)
        }
        tell {
            $0.connection = connection
            if status.state != .disconnected { $0.killSwitch = status.killSwitch }
        }
        if status.state == .connected, let report = status.api {
            prove(Proof.connection(status))
            startEngine(report)
        } else {
            stopEngine()
            provenConnection = ""
        }
    }

    /// Has the line proven, once for each connection and again when the network under it has changed.
    func prove(_ connection: String) {
        guard connection != provenConnection else { return }
        provenConnection = connection
        prove()
    }

    /// Has the line proven when line or mode have changed since, whoever changed them, and the engine knows it.
    func proveAnew() {
        guard dashboard.snapshot.connection.proof == .none, wantedLine == nil, wantedMode == nil else { return }
        prove()
    }

    /// A line that did not answer is asked once more, with more patience: what is said of it stays on the screen.
    private func prove(again: Bool = false) {
        guard dashboard.snapshot.connection.phase == .connected else { return }
        proof?.cancel()
        tell { $0.connection.proof = again ? .silent : .checking }
        let shown = dashboard.snapshot.connection.proof
        var job: Job?
        job = run(["status", "--json"] + (again ? ["--proof"] : [])) { [unowned self] outcome in
            guard proof === job else { return }
            proof = nil
            // Another line or mode was chosen meanwhile: this says nothing about it.
            guard dashboard.snapshot.connection.phase == .connected, dashboard.snapshot.connection.proof == shown
            else { return }
            let proof = outcome.value["proof"]
            if let milliseconds = proof["ms"].int {
                tell { $0.connection.proof = .answered(milliseconds: milliseconds) }
            } else if proof["error"].string == nil {
                tell { $0.connection.proof = .none }
            } else if again {
                tell { $0.connection.proof = .silent }
            } else {
                prove(again: true)
            }
        }
        proof = job
    }
}
