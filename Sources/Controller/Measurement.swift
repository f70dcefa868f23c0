// Measuring lines, connected or not, and finding out why some failed.

import Commands
package import EngineControl
import Importing
import JSON
package import Linux
import Profiles
package import Store
import Transfer

/// A measurement of lines, under way: through the running engine of a connected tunnel, else through a throw-away engine. It
/// moves on in `step`, so that a screen can wait for keys meanwhile.
///
/// The control API says "timeout" or "failed" and no more. A line that failed in the throw-away engine is asked once more
/// through an inbound of that engine, whose log then names the cause. The running engine has no such inbound: there the
/// cause stays unknown.
package final class Measurement {
    /// Lines asked for their cause at one time.
    private static let diagnosesAtATime = 48
    /// Milliseconds a diagnosis waits for the engine's log after its request has ended.
    private static let logGrace = 200
    /// Milliseconds a line that failed late still gets to be asked why.
    private static let leastPatience = 1500

    private struct Diagnosis {
        var token: HTTPClient.Token
        var ended: (at: Moment, error: TransferError?)?
    }

    /// The lines being measured; outcomes are by their place here.
    package let lines: [StoredLine]
    /// `throw-away engine` or `running engine`, as it is remembered with each result.
    package let via: String
    /// The outcomes so far, by position in `lines`.
    package private(set) var outcomes: [Int: DelayOutcome] = [:]
    private let context: Context
    private let client: HTTPClient
    private let engine: ThrowawayEngine?
    private let api: EngineAPI
    private let url: String
    private let timeout: Int
    private let positions: [String: Int]
    private var run: DelayRun?
    private let authorities: String?
    private var suspects: [(position: Int, patience: Int)] = []
    private var diagnoses: [Int: Diagnosis] = [:]
    private var retried: Set<Int> = []
    private var onResult: (_ position: Int, _ outcome: DelayOutcome) -> Void = { _, _ in }

    /// Starts.
    /// - Parameters:
    ///   - lines: what to measure.
    ///   - timeout: milliseconds a line.
    ///   - concurrency: tests at a time.
    ///   - onResult: gets each line's position and outcome as it is final.
    /// - Throws: `Failure`, `StoreError` or `EngineFailure` when no engine can be had.
    package init(
        _ context: Context, lines: [StoredLine], timeout: Int, concurrency: Int,
        onResult: @escaping (_ position: Int, _ outcome: DelayOutcome) -> Void
    ) throws {
        self.context = context
        self.lines = lines
        self.timeout = timeout
        url = Proof.url(context.variable)
        positions = Dictionary(lines.enumerated().map { ($1.tag, $0) }, uniquingKeysWith: { first, _ in first })
        authorities =
            context.variable("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 } ?? HTTPClient.systemAuthorities
        client = HTTPClient(connections: DelayRun.mostRequests + Self.diagnosesAtATime)
        let tunnel = try context.tunnelIfServed()
        if let status = tunnel?.status, status.state != .disconnected {
            guard status.state == .connected else { throw Failure.cannotMeasure(status.state.rawValue) }
            guard let report = status.api else { throw Failure.notOwner }
            engine = nil
            api = EngineAPI(client: client, address: report.address, secret: report.secret)
            via = "running engine"
        } else {
            let started = try Self.start(context, client, lines)
            engine = started
            api = started.api
            via = "throw-away engine"
        }
        self.onResult = onResult
        run = DelayRun(
            lines.map(\.tag), api: api, client: client, url: url, timeout: timeout, concurrency: concurrency
        ) { [unowned self] in measured($0, $1, after: $2) }
        run?.pump()
    }

    private static func start(
        _ context: Context, _ client: HTTPClient, _ lines: [StoredLine]
    ) throws -> ThrowawayEngine {
        let profile = try JSON.parse(context.state().profile())
        let path = try EngineBinary.locate(environment: context.variable)
        do {
            return try ThrowawayEngine(at: path, client: client) { access in
                var document = ProbeConfiguration.document(
                    profile: profile,
                    settings: EngineSettings(controlPort: Int(access.controlPort), secret: access.secret))
                LineInbound.add(to: &document, lines: lines.map(\.tag), access: access)
                return document
            }
        } catch {
            // A program that is no engine, or one too old, is asked what it is only now: the question takes 60 ms.
            _ = try EngineBinary(at: path)
            throw withoutSecrets(error, profile)
        }
    }

    /// The error without what is secret in the profile: an engine that ends quotes what it cannot use.
    private static func withoutSecrets(_ error: any Error, _ profile: JSON) -> any Error {
        guard case EngineFailure.ended(let words) = error else { return error }
        return EngineFailure.ended(
            Scrubber.scrub(words, of: [profile["outbounds"], profile["endpoints"], profile["dns"]["servers"]]))
    }

    /// True when every line has its outcome.
    package var isDone: Bool { outcomes.count == lines.count }

    /// Moves on: waits for something to happen, at most so long.
    /// - Parameter others: further descriptors to wait for, such as the keyboard.
    /// - Returns: what each of the others is ready for.
    /// - Throws: `EngineFailure.ended` when the throw-away engine ends by itself.
    @discardableResult
    package func step(
        milliseconds: Int, also others: [(descriptor: Int32, interest: Readiness)] = []
    ) throws -> [Readiness] {
        guard !isDone else { return others.map { _ in [] } }
        run?.pump()
        startDiagnoses()
        let busy = run?.isStarted == false || diagnoses.values.contains { $0.ended != nil }
        var waited = others
        if let engine { waited.append((engine.descriptor, .readable)) }
        var ready = client.wait(milliseconds: busy ? min(50, milliseconds) : milliseconds, also: waited)
        if let engine {
            ready.removeLast()
            engine.drain().forEach(read)
            if !engine.isRunning {
                let ended = EngineFailure.ended(engine.lastSentence)
                throw Self.withoutSecrets(ended, try JSON.parse(context.state().profile()))
            }
        }
        endDiagnoses()
        return ready
    }

    /// Gives up what has no outcome yet.
    package func cancel() {
        run?.cancel()
        diagnoses.values.forEach { client.cancel($0.token) }
        diagnoses = [:]
        for position in lines.indices where outcomes[position] == nil { outcomes[position] = .failed(.cancelled) }
    }

    /// Remembers the outcomes in the state directory.
    package func store() throws(StoreError) {
        let now = Int(wallClock())
        try context.state().update { state in
            for (position, outcome) in outcomes where outcome != .failed(.cancelled) {
                state.latencies[lines[position].identity] = Self.latency(outcome, at: now, via: via)
            }
        }
    }

    /// An outcome as it is remembered and shown.
    package static func latency(_ outcome: DelayOutcome, at: Int, via: String) -> Latency {
        switch outcome {
        case .milliseconds(let value): Latency(milliseconds: value, at: at, via: via, error: nil)
        case .failed(let error): Latency(milliseconds: nil, at: at, via: via, error: error.rawValue)
        }
    }

    private func measured(_ position: Int, _ outcome: DelayOutcome, after milliseconds: Int) {
        if outcome == .failed(.failed), engine != nil, !retried.contains(position) {
            suspects.append((position, max(Self.leastPatience, timeout - milliseconds)))
        } else {
            finish(position, outcome)
        }
    }

    private func finish(_ position: Int, _ outcome: DelayOutcome) {
        guard outcomes[position] == nil else { return }
        outcomes[position] = outcome
        onResult(position, outcome)
    }

    // MARK: Why

    private func startDiagnoses() {
        guard let engine else { return }
        while !suspects.isEmpty, diagnoses.count < Self.diagnosesAtATime {
            let (position, patience) = suspects.removeFirst()
            var request = HTTPRequest(.get, url)
            request.proxy = LineInbound.proxy(for: position, access: engine.access)
            request.totalMilliseconds = patience
            request.connectMilliseconds = patience
            request.bodyLimit = 1 << 20
            request.authorities = authorities
            let token = client.start(request) { [unowned self] result in
                switch result {
                case .success: measureAgain(position, milliseconds: patience)
                case .failure(let error): diagnoses[position]?.ended = (Moment.now, error)
                }
            }
            diagnoses[position] = Diagnosis(token: token, ended: nil)
        }
    }

    /// The line works after all: its second measurement counts, whatever it is.
    private func measureAgain(_ position: Int, milliseconds: Int) {
        diagnoses[position] = nil
        retried.insert(position)
        api.startDelay(of: lines[position].tag, url: url, milliseconds: milliseconds) { [unowned self] outcome in
            measured(position, outcome, after: 0)
        }
    }

    private func read(_ logLine: String) {
        guard !diagnoses.isEmpty else { return }
        let asked = Set(diagnoses.keys.map { lines[$0].tag })
        guard let cause = DelayDiagnosis.cause(in: logLine, among: asked), let position = positions[cause.tag],
            let diagnosis = diagnoses.removeValue(forKey: position)
        else { return }
        client.cancel(diagnosis.token)
        finish(position, .failed(DelayDiagnosis.error(for: cause.reason)))
    }

    /// Ends diagnoses about which the log says nothing: the server took the connection and did not carry the request.
    private func endDiagnoses() {
        for (position, diagnosis) in diagnoses {
            guard let ended = diagnosis.ended, Moment.now.milliseconds(since: ended.at) >= Self.logGrace else {
                continue
            }
            diagnoses[position] = nil
            let error: DelayError =
                switch ended.error?.cause {
                case .time: .timeout
                case .certificate, .handshake: .tls
                default: .proxy
                }
            finish(position, .failed(error))
        }
    }
}
