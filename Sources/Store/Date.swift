// Dates as text, in UTC.

/// Seconds since 1970 as people and programs read them.
package enum Date {
    /// `2027-01-01T00:00:00Z` (RFC 3339). Years before 0 and after 9999 are shown as those.
    package static func text(_ seconds: some BinaryInteger) -> String {
        let inDay = part(seconds, of: 86_400)
        return "\(day(seconds))T\(two(inDay / 3600)):\(two(inDay / 60 % 60)):\(two(inDay % 60))Z"
    }

    /// `2027-01-01`.
    package static func day(_ seconds: some BinaryInteger) -> String {
        // -62167219200 and 253402300799 are the ends of the years 0 and 9999.
        let seconds = min(max(Int(clamping: seconds), -62_167_219_200), 253_402_300_799)
        // Days to a civil date: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
        let shifted = (seconds - part(seconds, of: 86_400)) / 86_400 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = String(yearOfEra + era * 400 + (month <= 2 ? 1 : 0))
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        return String(repeating: "0", count: max(0, 4 - year.count)) + year + "-\(two(month))-\(two(day))"
    }

    private static func part(_ seconds: some BinaryInteger, of whole: Int) -> Int {
        let rest = Int(clamping: seconds) % whole
        return rest < 0 ? rest + whole : rest
    }

    private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
}
