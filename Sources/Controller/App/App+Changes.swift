// Changes one after the other: two verbs at once would each write back what they read before the other wrote.

import Dashboard
import JSON
import Linux
import Messages
import Store

/// A change that waits for those before it.
struct Change {
    let arguments: [String]
    let then: (Job.Outcome) -> Void
    var isConnect: Bool { arguments.first == "connect" }
}

extension App {
    /// Runs a verb that changes something, after the changes under way.
    func change(_ arguments: [String], then: @escaping (Job.Outcome) -> Void = { _ in }) {
        changes.append(Change(arguments: arguments, then: then))
        startChange()
    }

    private func startChange() {
        guard changing == nil, !changes.isEmpty else { return }
        let next = changes.removeFirst()
        changing = run(next.arguments + ["--json"], outlives: true) { [unowned self] outcome in
            changing = nil
            next.then(outcome)
            startChange()
        }
        if changing == nil { startChange() }
    }

    /// Starts what still waits: the user leaves and nobody will be there to start it later.
    func flushChanges() {
        for change in changes { run(change.arguments + ["--json"], outlives: true) { _ in } }
        changes = []
    }

    /// Disconnects at once, whatever else waits: a connection on its way is what the user may want to be rid of.
    func disconnect() {
        changes.removeAll(where: \.isConnect)
        run(["disconnect", "--json"], outlives: true) { [unowned self] outcome in tellFailure(outcome) }
    }

    func select(_ id: String) {
        let lines = dashboard.snapshot.lines
        guard let place = lines.place(of: id) else { return }
        let operand = lines.number(at: place).map { "#\($0)" } ?? LineItem.automaticID
        // Shown at once, taken back when it fails.
        wantedLine = id
        tell { $0.selected = id }
        change(["select", operand]) { [unowned self] outcome in
            if wantedLine == id { wantedLine = nil }
            tellFailure(outcome)
            loadState()
            refreshAutomatic()
        }
    }

    func setMode(_ mode: Mode) {
        wantedMode = mode
        tell { $0.mode = mode }
        change(["mode", mode.rawValue]) { [unowned self] outcome in
            if wantedMode == mode { wantedMode = nil }
            tellFailure(outcome)
            loadState()
        }
    }

    func connect() {
        change(["connect", dashboard.snapshot.killSwitch ? "--kill-switch" : "--no-kill-switch"]) {
            [unowned self] outcome in
            // The state shows the rest: whether the line answers, and why it is not connected.
            if outcome.value["error"]["code"].string != "line-not-answering" { tellFailure(outcome) }
        }
    }

    func setKillSwitch(_ isOn: Bool) {
        if dashboard.snapshot.connection.isOn {
            change(["connect", isOn ? "--kill-switch" : "--no-kill-switch"]) { [unowned self] in tellFailure($0) }
            return
        }
        do {
            try context.state().update { $0.preferences.killSwitch = isOn }
            tell { $0.killSwitch = isOn }
        } catch { fail(Failure(describing: error)) }
    }
}
