// Log lines with a level and facts, to a bounded file, a descriptor, or memory. Secrets never get here: callers log names
// and codes, not values.

import Linux

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
    let date = civilDate(daysSince1970: Int(day))
    func pad(_ value: Int, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let time =
        "\(pad(inDay / 3_600_000, 2)):\(pad(inDay / 60_000 % 60, 2)):\(pad(inDay / 1000 % 60, 2)).\(pad(inDay % 1000, 3))"
    return "\(pad(date.year, 4))-\(pad(date.month, 2))-\(pad(date.day, 2))T\(time)Z"
}

extension Int64 {
    fileprivate func dividedFloor(by other: Int64) -> Int64 {
        let quotient = self / other
        return self % other < 0 ? quotient - 1 : quotient
    }
}

/// The calendar date of a day number, by the era method of Howard Hinnant's "chrono-compatible low-level date algorithms".
private func civilDate(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = daysSince1970 + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
}
