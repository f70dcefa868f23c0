// Measuring many lines at once through the control API, a bounded number at a time.

package import Transfer
import Linux

/// A measurement of many lines, under way. It moves on while the owner waits in `HTTPClient.wait` and calls `pump()`.
///
/// The number of tests at a time starts at 32 and grows with time to the limit, so that neither the first results are
/// spoiled by a burst of handshakes nor a few silent lines hold up the rest (measured: at 128 at a time 500 lines with 100
/// silent ones take little more than one time-out, and no good line is missed).
package final class DelayRun {
    private let api: EngineAPI
    private let client: HTTPClient
    private let lines: [String]
    private let url: String
    private let timeout: Int
    private let limit: Int
    private let started = Moment.now
    private let onResult: (_ position: Int, _ outcome: DelayOutcome) -> Void
    private var running: [Int: HTTPClient.Token] = [:]
    private var next = 0

    /// - Parameters:
    ///   - lines: tags.
    ///   - timeout: milliseconds a line.
    ///   - concurrency: tests at a time once the run is under way.
    ///   - onResult: gets each line's position and outcome as it ends.
    package init(
        _ lines: [String], api: EngineAPI, client: HTTPClient, url: String, timeout: Int, concurrency: Int,
        onResult: @escaping (_ position: Int, _ outcome: DelayOutcome) -> Void
    ) {
        self.lines = lines
        self.api = api
        self.client = client
        self.url = url
        self.timeout = timeout
        limit = max(1, concurrency)
        self.onResult = onResult
    }

    /// True when every line has its outcome.
    package var isDone: Bool { next == lines.count && running.isEmpty }

    /// Starts as many tests as there is room for. Call it after each wait, at least five times a second.
    package func pump() {
        let elapsed = Moment.now.milliseconds(since: started)
        let room = min(limit, 32 + 32 * (elapsed / 100))
        while next < lines.count, running.count < room {
            let position = next
            next += 1
            running[position] = api.startDelay(of: lines[position], url: url, milliseconds: timeout) { [self] outcome in
                running[position] = nil
                onResult(position, outcome)
            }
        }
    }

    /// Gives up what has no outcome yet.
    package func cancel() {
        for token in running.values { client.cancel(token) }
        running = [:]
        next = lines.count
    }
}
