// Numbers as people read them: bytes, rates, times, dates.

/// Formatting without Foundation: nothing here depends on a locale or a clock.
package enum Figures {
    /// Bytes with a binary unit and three significant digits: `0 B`, `34.0 KB`, `1.21 GB`.
    package static func bytes(_ count: Int) -> String {
        let units = ["B", "KB", "MB", "GB", "TB", "PB"]
        var value = Double(max(0, count))
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

    /// A duration as `00:12:45`, with days before it when there are any.
    package static func duration(_ seconds: Double) -> String {
        let total = max(0, Int(seconds))
        let clock = [total / 3600 % 24, total / 60 % 60, total % 60]
            .map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
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

    /// The date of a moment, as `2027-01-01`. Days to civil date after Howard Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms".
    package static func date(_ seconds: Double, utcOffset: Int) -> String {
        let days = day(seconds, utcOffset: utcOffset) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(year)-\(month < 10 ? "0" : "")\(month)-\(dayOfMonth < 10 ? "0" : "")\(dayOfMonth)"
    }

    /// Whole days from one moment's date to another's.
    package static func days(from now: Double, to then: Double, utcOffset: Int) -> Int {
        day(then, utcOffset: utcOffset) - day(now, utcOffset: utcOffset)
    }

    private static func day(_ seconds: Double, utcOffset: Int) -> Int {
        Int(((seconds + Double(utcOffset)) / 86_400).rounded(.down))
    }
}
