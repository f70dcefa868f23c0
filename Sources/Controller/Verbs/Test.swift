// The verb `test`: the latency of lines, connected or not.

import CommandLine
import EngineControl
import JSON
import Linux
import Messages
import Store

extension Verb {
    static let test = Verb(
        VerbSpecification(
            "test", summary: HelpText.testSummary, details: HelpText.testDetails,
            operand: OperandSpecification("LINE", .any, completion: .line),
            options: [
                OptionSpecification("timeout", value: "TIME", HelpText.testTimeout),
                OptionSpecification("concurrency", value: "N", HelpText.testConcurrency),
                OptionSpecification("stream", HelpText.testStream),
            ]),
        check: { command throws(UsageError) in _ = try limits(command) }
    ) { context, command in
        let (timeout, concurrency) = try limits(command)
        let state = try context.state().load()
        guard let all = state.subscription?.lines else { throw StoreError.noSubscription }
        let chosen = try chooseLines(command.operands, of: all)
        // An interrupted measurement keeps what it has.
        let signals = try SignalWatch()
        var isInterrupted = false
        let started = Moment.now
        let output = context.output
        let isStream = output.json && command.has("stream")
        var good = 0
        var done = 0
        var via = ""
        let measurement = try Measurement(
            context, lines: chosen.map(\.line), timeout: timeout, concurrency: concurrency
        ) { position, outcome in
            done += 1
            if isStream {
                let latency = Measurement.latency(outcome, at: Int(wallClock()), via: via)
                output.result(
                    json(chosen[position].line, number: chosen[position].number, latency), pretty: false)
            }
            if case .milliseconds = outcome { good += 1 }
            output.progress(Messages.measuring(done, chosen.count, good))
        }
        via = measurement.via
        while !measurement.isDone {
            do {
                try measurement.step(milliseconds: 500, also: [(signals.descriptor, .readable)])
                isInterrupted = signals.next() != nil
            } catch {
                // Whoever interrupts us may have ended the engine with us; what was measured counts all the same.
                isInterrupted = signals.next() != nil
                guard isInterrupted else { throw error }
            }
            if isInterrupted { measurement.cancel() }
            output.tick()
        }
        // A full disk must not cost the result that is there.
        do throws(StoreError) { try measurement.store() } catch { output.note(error.message) }
        if !isStream { report(measurement, numbers: chosen.map(\.number), to: output) }
        let seconds = Moment.now.milliseconds(since: started) / 100
        output.note(Messages.measured(good, chosen.count, "\(seconds / 10).\(seconds % 10)"))
        output.note(
            Messages.measuredThrough(running: measurement.via == "running engine", url: Proof.url(context.variable)))
        if isInterrupted {
            output.note(Messages.measuringInterrupted)
            return .interrupted
        }
        guard good == 0 else { return .done }
        let remedy =
            DefaultRoute.isThere == false ? Messages.noNetworkRemedy : Messages.noLineAnswersRemedy
        output.note(Messages.noLineAnswers + Text("", " ") + remedy)
        return .temporary
    }

    private static func limits(_ command: ParsedCommand) throws(UsageError) -> (timeout: Int, concurrency: Int) {
        (
            try command.milliseconds("timeout", in: 100...30_000) ?? 5000,
            try command.integer("concurrency", in: 1...1000) ?? 256
        )
    }

    private static func chooseLines(_ typed: [String], of all: [StoredLine]) throws -> [(line: StoredLine, number: Int)]
    {
        guard !typed.isEmpty else { return all.enumerated().map { ($1, $0 + 1) } }
        let matcher = LineMatcher(all)
        var chosen: [(line: StoredLine, number: Int)] = []
        for name in typed {
            guard case .line(let line, let number) = try matcher.find(name) else { continue }
            if !chosen.contains(where: { $0.number == number }) { chosen.append((line, number)) }
        }
        guard !chosen.isEmpty else { return all.enumerated().map { ($1, $0 + 1) } }
        return chosen
    }

    private static func report(_ measurement: Measurement, numbers: [Int], to output: Output) {
        let now = Int(wallClock())
        let rows = measurement.lines.indices.map { position in
            let outcome = measurement.outcomes[position] ?? .failed(.cancelled)
            return (
                number: numbers[position], line: measurement.lines[position],
                latency: Measurement.latency(outcome, at: now, via: measurement.via)
            )
        }
        if output.json {
            return output.result(.array(rows.map { json($0.line, number: $0.number, $0.latency) }))
        }
        let sorted = rows.sorted { left, right in
            (left.latency.milliseconds ?? .max, left.number) < (right.latency.milliseconds ?? .max, right.number)
        }
        let table = sorted.map { row in
            let figure =
                row.latency.milliseconds.map { "\($0) ms" }
                ?? Messages.delayErrors[row.latency.error ?? ""]?(output.language) ?? row.latency.error ?? ""
            return [
                String(row.number), figure, DisplayWidth.cut(row.line.name, to: Table.widestName), row.line.type,
            ]
        }
        Table.lines(table, right: [0, 1]).forEach { output.result($0) }
    }

    private static func json(_ line: StoredLine, number: Int, _ latency: Latency) -> JSON {
        [
            "number": .int(number), "id": .string(line.identity), "name": .string(line.name),
            "type": .string(line.type), "server": .string(line.server), "port": .optional(line.port),
            "latency": latencyJSON(latency),
        ]
    }

    /// `{"ms", "at", "via", "error"}`.
    static func latencyJSON(_ latency: Latency) -> JSON {
        [
            "ms": .optional(latency.milliseconds), "at": .int(latency.at), "via": .string(latency.via),
            "error": .optional(latency.error),
        ]
    }
}

extension Failure {
    static func cannotMeasure(_ state: String) -> Failure {
        Failure(
            "cannot-measure", .temporary,
            Messages.cannotMeasure(state), remedy: Messages.cannotMeasureRemedy)
    }
}
