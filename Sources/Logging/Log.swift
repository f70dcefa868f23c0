// Log lines with a level and facts, to a bounded file, a descriptor, or memory. Secrets never get here: callers log names
// and codes, not values.

import Linux
import Notation

/// How much a line matters.
package enum LogLevel: Int, Comparable, Sendable, CaseIterable {
    case debug, info, notice, warning, error

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    /// The name as written in a log.
    package var name: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        }
    }
}

/// Where log lines go.
package protocol LogSink: AnyObject {
    /// Takes one finished line, without the line feed.
    func write(_ line: String)
}

/// Writes log lines for one program part. A cheap value; hand copies around.
package struct Log {
    private let sink: any LogSink
    private let label: String
    private let minimum: LogLevel

    /// - Parameters:
    ///   - label: the part of the program, such as `worker`.
    ///   - minimum: lines below this level are left out.
    package init(_ label: String, sink: any LogSink, minimum: LogLevel = .info) {
        self.label = label
        self.sink = sink
        self.minimum = minimum
    }

    /// The same sink under another label.
    package func labelled(_ label: String) -> Log { Log(label, sink: sink, minimum: minimum) }

    /// Writes one line: `2026-01-02T03:04:05.678Z level label: message key=value …`.
    package func callAsFunction(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ facts: KeyValuePairs<String, String> = [:]
    ) {
        guard level >= minimum else { return }
        var line = "\(timestamp(wallClock())) \(level.name) \(label): \(message())"
        for (key, value) in facts { line += " \(key)=\(Self.quoted(value))" }
        sink.write(line.replacingLineFeeds())
    }

    private static func quoted(_ value: String) -> String {
        value.contains(" ") || value.isEmpty ? "\"\(value)\"" : value
    }
}

extension String {
    fileprivate func replacingLineFeeds() -> String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\n" || $0 == "\r" ? " " : $0 }))
    }
}

/// A moment as RFC 3339 text in UTC with milliseconds.
/// - Parameter seconds: since 1970.
package func timestamp(_ seconds: Double) -> String {
    let milliseconds = Int64(seconds * 1000)
    let day = milliseconds.dividedFloor(by: 86_400_000)
    let inDay = Int(milliseconds - day * 86_400_000)
    let clock = [inDay / 3_600_000, inDay / 60_000 % 60, inDay / 1000 % 60].map { zeroPadded($0, 2) }
    let date = CivilDate(daysSince1970: Int(day))
    return "\(date)T\(clock.joined(separator: ":")).\(zeroPadded(inDay % 1000, 3))Z"
}

extension Int64 {
    fileprivate func dividedFloor(by other: Int64) -> Int64 {
        let quotient = self / other
        return self % other < 0 ? quotient - 1 : quotient
    }
}
