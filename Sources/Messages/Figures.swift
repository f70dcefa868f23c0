// Numbers as people read them: bytes, rates, times, dates.

import Notation

/// Formatting without Foundation: nothing here depends on a locale or a clock.
package enum Figures {
    /// Bytes with a binary unit and three significant digits: `0 B`, `34.0 KB`, `1.21 GB`.
    package static func bytes(_ count: some BinaryInteger) -> String {
        let units = ["B", "KB", "MB", "GB", "TB", "PB"]
        var value = Double(max(0, Int(clamping: count)))
        var unit = 0
        while value >= 999.5, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        if unit == 0 { return "\(Int(value)) B" }
        return "\(decimal(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0)) \(units[unit])"
    }

    /// A rate.
    package static func rate(_ bytesPerSecond: Int) -> String { bytes(bytesPerSecond) + "/s" }

    /// A number with so many digits after the point.
    package static func decimal(_ value: Double, _ digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((value * Double(scale)).rounded())
        if digits == 0 { return String(scaled) }
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// A multiplier: `1.5`, `2`, `0.25`.
    package static func multiplier(_ value: Double) -> String {
        var text = decimal(value, 2)
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }

    /// A length of time in its largest unit or two: `42 s`, `3 min`, `5 h 10 min`, `2 d 3 h`.
    package static func duration(seconds: Int) -> Text {
        let seconds = max(0, seconds)
        func text(_ parts: [(Int, String, String)]) -> Text {
            let parts = parts.filter { $0.0 > 0 }
            return Text(
                parts.map { "\($0.0) \($0.1)" }.joined(separator: " "),
                parts.map { "\($0.0) \($0.2)" }.joined(separator: " "))
        }
        if seconds < 60 { return Text("\(seconds) 秒", "\(seconds) s") }
        if seconds < 3600 { return text([(seconds / 60, "分钟", "min")]) }
        if seconds < 86_400 { return text([(seconds / 3600, "小时", "h"), (seconds % 3600 / 60, "分钟", "min")]) }
        return text([(seconds / 86_400, "天", "d"), (seconds % 86_400 / 3600, "小时", "h")])
    }

    /// A running time as `00:12:45`, with days before it when there are any.
    package static func clock(_ seconds: Double) -> String {
        let total = max(0, Int(seconds))
        let clock = [total / 3600 % 24, total / 60 % 60, total % 60]
            .map { zeroPadded($0, 2) }.joined(separator: ":")
        return total >= 86_400 ? "\(total / 86_400)d \(clock)" : clock
    }

    /// An age in its largest unit: `0m`, `12m`, `3h`, `9d`.
    package static func age(_ seconds: Double) -> String {
        let minutes = max(0, Int(seconds)) / 60
        if minutes < 60 { return "\(minutes)m" }
        return minutes < 1440 ? "\(minutes / 60)h" : "\(minutes / 1440)d"
    }

    /// Seconds until `age` reads differently.
    package static func ageChanges(in seconds: Double) -> Double {
        let whole = max(0, seconds)
        let unit = whole < 3600 ? 60.0 : whole < 86_400 ? 3600 : 86_400
        return unit - whole.truncatingRemainder(dividingBy: unit)
    }

    /// The date of a moment, as `2027-01-01`.
    /// - Parameter utcOffset: seconds east of Greenwich.
    package static func date(_ seconds: Double, utcOffset: Int) -> String {
        CivilDate(daysSince1970: day(seconds, utcOffset: utcOffset)).description
    }

    /// Whole days from one moment's date to another's.
    package static func days(from now: Double, to then: Double, utcOffset: Int) -> Int {
        day(then, utcOffset: utcOffset) - day(now, utcOffset: utcOffset)
    }

    private static func day(_ seconds: Double, utcOffset: Int) -> Int {
        Int(((seconds + Double(utcOffset)) / 86_400).rounded(.down))
    }
}
