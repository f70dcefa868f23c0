// What the screen shows of the state directory.

import Dashboard
import JSON
import Linux
import Messages
import Store

extension App {
    /// Reads the state directory and tells the dashboard.
    func loadState() {
        let state: State
        do {
            state = try context.state().load()
        } catch {
            let failure = Failure(describing: error)
            dashboard.setLines(LineTable())
            tell {
                $0.isLoading = false
                $0.hasSubscription = false
                $0.stateProblem = Problem(code: failure.code, message: failure.message, remedy: failure.remedy)
            }
            return
        }
        tell {
            $0.isLoading = false
            $0.stateProblem = nil
            $0.hasSubscription = state.subscription != nil
            $0.selected = wantedLine ?? state.preferences.selection?.identity ?? LineItem.automaticID
            $0.mode = wantedMode ?? Mode(rawValue: state.preferences.mode ?? "") ?? .rule
            if !$0.connection.isOn { $0.killSwitch = state.preferences.killSwitch ?? false }
            $0.quota = state.subscription?.quota.flatMap(Self.shown)
        }
        lineTags = Dictionary(
            (state.subscription?.lines ?? []).map { ($0.tag, $0.identity) }, uniquingKeysWith: { first, _ in first })
        let shownLines = dashboard.snapshot.lines
        var lines = LineTable(Self.items(state), automatic: true)
        // A test under way knows more than the directory.
        if activity != nil, shownLines.count == lines.count {
            for item in shownLines.items { lines.setLatency(item.latency, of: item.id) }
        }
        if lines.items != shownLines.items { dashboard.setLines(lines) }
        proveAnew()
        after(.trim, milliseconds: 200) { ThisProcess.releaseMemory() }
    }

    private static func items(_ state: State) -> [LineItem] {
        guard let subscription = state.subscription else { return [] }
        var items = subscription.lines.map { line in
            LineItem(
                id: line.identity, name: line.name, kind: line.type, multiplier: line.multiplier,
                latency: state.latencies[line.identity].map(shown) ?? .unknown)
        }
        for (number, dropped) in subscription.report["dropped"].listed.enumerated() {
            items.append(
                LineItem(
                    id: "dropped-\(number)", name: dropped["name"].string ?? "?", kind: dropped["type"].string ?? "",
                    unusable: AppWords.dropped(dropped["reason"].string ?? "")))
        }
        return items
    }

    static func shown(_ latency: Store.Latency) -> ShownLatency {
        if let milliseconds = latency.milliseconds {
            return .measured(milliseconds: milliseconds, at: Double(latency.at))
        }
        return .failed(code: latency.error ?? "failed", at: Double(latency.at))
    }

    private static func shown(_ quota: Store.Quota) -> ShownQuota? {
        guard quota.upload != nil || quota.download != nil || quota.total != nil || quota.expire != nil else {
            return nil
        }
        return ShownQuota(
            used: Int(clamping: quota.used),
            total: quota.total.map { Int(clamping: $0) }, expires: quota.expire.map(Double.init))
    }
}
