// What the user wants, done: mostly by running our own verbs.

import Dashboard
import JSON
import Linux
import Messages
import Screen
import Store

extension App {
    func handle(_ intents: [Intent]) { intents.forEach(handle) }

    private func handle(_ intent: Intent) {
        switch intent {
        case .quit: quit()
        case .suspend: screen.suspend()
        case .redraw: screen.redrawAll()
        case .copy(let text): screen.copy(text)
        case .select(let id): select(id)
        case .connect: connect()
        case .disconnect: disconnect()
        case .confirm: change(["confirm"]) { [unowned self] in tellFailure($0) }
        case .setMode(let mode): setMode(mode)
        case .setKillSwitch(let isOn): setKillSwitch(isOn)
        case .test(let ids): test(ids)
        case .cancel: activity?.cancel()
        case .update: fetch(["update"], .updating, input: nil)
        case .importSource(let source): fetch(["import", "-"], .importing, input: Array(source.utf8))
        case .showLink: showLink()
        case .showLogs(let source): followLog(source)
        case .hideLogs: endLog()
        case .clearLogs:
            change(["logs", "--clear", "--source", ShownLog.controller.rawValue]) { [unowned self] outcome in
                if tellFailure(outcome) { tell { $0.logLines = [] } }
            }
        case .showConnections: showConnections()
        case .hideConnections: cancelTimer(.connections)
        case .closeConnection(let id): closeConnection(id)
        case .closeAllConnections: closeConnection(nil)
        }
    }

    // MARK: Running verbs

    /// Runs a verb beside the screen.
    @discardableResult
    func run(
        _ arguments: [String], input: [UInt8]? = nil, outlives: Bool = false, onLine: (([UInt8]) -> Void)? = nil,
        onEnd: @escaping (Job.Outcome) -> Void
    ) -> Job? {
        do {
            let job = try Job(
                arguments, context, input: input, outlives: outlives, onLine: onLine, onEnd: onEnd)
            jobs.append(job)
            return job
        } catch {
            fail(Failure(describing: error))
            return nil
        }
    }

    func fail(_ failure: Failure) {
        announce(failure.message + Text(" ", " ") + failure.remedy, .error, seconds: 15)
    }

    /// Announces what a verb failed with.
    /// - Returns: true when it did not fail.
    @discardableResult
    func tellFailure(_ outcome: Job.Outcome) -> Bool {
        let error = outcome.value["error"]
        if let message = error["message"].string {
            let remedy = error["remedy"].string ?? ""
            announce(Text(verbatim: remedy.isEmpty ? message : "\(message) \(remedy)"), .error, seconds: 15)
            return false
        }
        if outcome.exit != 0 { announce(AppWords.verbEnded(outcome.exit), .error) }
        return outcome.exit == 0
    }

    // MARK: Lines

    private func test(_ ids: [String]) {
        let lines = dashboard.snapshot.lines
        let numbers = ids.compactMap { lines.place(of: $0).flatMap { lines.number(at: $0) } }.map { "#\($0)" }
        guard numbers.count == ids.count else { return }
        let total = ids.isEmpty ? lines.usableCount : ids.count
        let before = lines
        tell {
            $0.activity = .testing(done: 0, total: total)
            $0.lines.markTesting(ids)
        }
        var done = 0
        var good = 0
        var found: [String: JSON] = [:]
        activity = run(["test", "--json", "--stream"] + numbers) { [unowned self] bytes in
            guard let value = try? JSON.parse(bytes), let id = value["id"].string else { return }
            let latency = Self.latency(value["latency"])
            done += 1
            found[id] = value["latency"]
            if case .measured = latency { good += 1 }
            tell {
                $0.lines.setLatency(latency, of: id)
                $0.activity = .testing(done: min(done, total), total: total)
            }
        } onEnd: { [unowned self] outcome in
            activity = nil
            tell {
                $0.activity = nil
                for item in $0.lines.items where item.latency == .testing {
                    $0.lines.setLatency(before.line(item.id)?.latency ?? .unknown, of: item.id)
                }
            }
            // A test that was cancelled had no time to remember what it found.
            if outcome.exit > 128 { remember(found) }
            if done == 0, outcome.exit <= 128 {
                tellFailure(outcome)
            } else {
                announce(AppWords.tested(good, done), .good)
            }
        }
        if activity == nil { tell { $0.activity = nil } }
    }

    private func remember(_ found: [String: JSON]) {
        guard !found.isEmpty else { return }
        do {
            try context.state().update { state in
                for (id, value) in found {
                    state.latencies[id] = Store.Latency(
                        milliseconds: value["ms"].int, at: value["at"].int ?? 0, via: value["via"].string ?? "",
                        error: value["error"].string)
                }
            }
        } catch { fail(Failure(describing: error)) }
    }

    private static func latency(_ value: JSON) -> ShownLatency {
        let at = Double(value["at"].int ?? 0)
        if let milliseconds = value["ms"].int { return .measured(milliseconds: milliseconds, at: at) }
        return .failed(code: value["error"].string ?? "failed", at: at)
    }

    // MARK: The subscription

    private func fetch(_ verb: [String], _ kind: Activity, input: [UInt8]?) {
        if activity != nil { activity?.cancel() }
        tell { $0.activity = kind }
        activity = run(verb + ["--json"], input: input) { [unowned self] outcome in
            activity = nil
            tell { $0.activity = nil }
            guard tellFailure(outcome) else { return }
            let dropped = outcome.value["dropped"].listed.count
            announce(AppWords.imported(outcome.value["lines"].listed.count, dropped), .good, seconds: 10)
            loadState()
        }
        if activity == nil { tell { $0.activity = nil } }
    }

    /// Shows the link as a QR code. Without colours nobody knows what is dark on this terminal.
    private func showLink() {
        guard screen.colours > 0 else { return announce(AppWords.codeNeedsColours, .warning) }
        do { dashboard.show(try LinkCode.make(context)) } catch { fail(Failure(describing: error)) }
    }

    // MARK: Logs

    private func followLog(_ source: ShownLog) {
        endLog()
        tell { $0.logSource = source }
        logJob = run(["logs", "--follow", "--source", source.rawValue]) { [unowned self] bytes in
            let line = String(decoding: bytes, as: UTF8.self)
            tell {
                $0.logLines.append(line)
                if $0.logLines.count > 2000 { $0.logLines.removeFirst($0.logLines.count - 1500) }
            }
        } onEnd: { [unowned self] outcome in
            if outcome.exit != 143, outcome.exit > 0 { tellFailure(outcome) }
        }
    }

    private func endLog() {
        logJob?.cancel()
        if let logJob { jobs.removeAll { $0 === logJob } }
        logJob = nil
        tell { $0.logLines = [] }
    }
}
