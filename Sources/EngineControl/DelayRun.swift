// Measuring many lines at once through the control API, as many at a time as `DelayPacing` allows.

package import Transfer
import Linux

/// A measurement of many lines, under way. It moves on while the owner waits in `HTTPClient.wait` and calls `pump()`.
package final class DelayRun {
    /// The most requests it has under way, whatever the limit.
    package static let mostRequests = DelayPacing.most
    private let api: EngineAPI
    private let client: HTTPClient
    private let lines: [String]
    private let order: [Int]
    private let url: String
    private let timeout: Int
    private let started = Moment.now
    private let onResult: (_ position: Int, _ outcome: DelayOutcome, _ milliseconds: Int) -> Void
    private var pacing: DelayPacing
    private var tokens: [Int: HTTPClient.Token] = [:]
    private var next = 0

    /// - Parameters:
    ///   - lines: tags.
    ///   - timeout: milliseconds a line.
    ///   - concurrency: tests at a time, those that wait for long not counted.
    ///   - onResult: gets each line's position and outcome as it ends, and how long that took.
    package init(
        _ lines: [String], api: EngineAPI, client: HTTPClient, url: String, timeout: Int, concurrency: Int,
        onResult: @escaping (_ position: Int, _ outcome: DelayOutcome, _ milliseconds: Int) -> Void
    ) {
        self.lines = lines
        self.api = api
        self.client = client
        self.url = url
        self.timeout = timeout
        order = Self.spread(lines.count)
        pacing = DelayPacing(limit: concurrency)
        self.onResult = onResult
    }

    /// True when every line has its outcome.
    package var isDone: Bool { next == order.count && pacing.isIdle }

    /// True when every line's test has started: nothing depends on `pump()` any more.
    package var isStarted: Bool { next == order.count }

    /// Starts as many tests as there is room for. Call it after each wait, at least ten times a second.
    package func pump() {
        guard next < order.count else { return }
        let now = Moment.now.milliseconds(since: started)
        for position in order[next...].prefix(pacing.vacancies(at: now)) {
            next += 1
            pacing.start(position, at: now)
            tokens[position] = api.startDelay(of: lines[position], url: url, milliseconds: timeout) { [self] in
                ended(position, $0)
            }
        }
    }

    private func ended(_ position: Int, _ answer: DelayOutcome) {
        tokens[position] = nil
        var isGood = false
        if case .milliseconds = answer { isGood = true }
        let now = Moment.now.milliseconds(since: started)
        let took = pacing.end(position, at: now, isGood: isGood, isSilent: answer == .failed(.timeout))
        onResult(position, Self.outcome(answer, after: took, timeout: timeout), took)
    }

    /// A failure close to the time-out is the time-out: the engine reports it as a failure when the dialer's timer fires
    /// before its own. Asked for its cause, such a line would keep silent once more.
    static func outcome(_ answer: DelayOutcome, after milliseconds: Int, timeout: Int) -> DelayOutcome {
        let isLate = milliseconds >= timeout - min(100, timeout / 10)
        return answer == .failed(.failed) && isLate ? .failed(.timeout) : answer
    }

    /// Gives up what has no outcome yet.
    package func cancel() {
        tokens.values.forEach(client.cancel)
        tokens = [:]
        pacing = DelayPacing(limit: 1)
        next = order.count
    }

    /// All positions, neighbours far apart: a provider's list is sorted by place, and a row of dead lines at its head would
    /// leave nothing to learn from.
    static func spread(_ count: Int) -> [Int] {
        guard count > 2 else { return Array(0..<count) }
        func divisor(_ left: Int, _ right: Int) -> Int { right == 0 ? left : divisor(right, left % right) }
        // The golden section keeps any run of them evenly spread.
        var stride = max(1, count * 618 / 1000)
        while divisor(stride, count) != 1 { stride += 1 }
        return (0..<count).map { $0 * stride % count }
    }
}
