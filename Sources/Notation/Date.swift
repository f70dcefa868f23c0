// Moments as text, in UTC.

/// Seconds since 1970 as people and programs read them.
package enum Date {
    /// `2027-01-01T00:00:00Z` (RFC 3339). Years before 0 and after 9999 are shown as those.
    package static func text(_ seconds: some BinaryInteger) -> String {
        let inDay = part(bounded(seconds))
        let clock = [inDay / 3600, inDay / 60 % 60, inDay % 60].map { zeroPadded($0, 2) }.joined(separator: ":")
        return "\(day(seconds))T\(clock)Z"
    }

    /// `2027-01-01`, with the same bounds.
    package static func day(_ seconds: some BinaryInteger) -> String {
        let seconds = bounded(seconds)
        return CivilDate(daysSince1970: (seconds - part(seconds)) / 86_400).description
    }

    /// The seconds of the years 0 and 9999 are the ends.
    private static func bounded(_ seconds: some BinaryInteger) -> Int {
        min(max(Int(clamping: seconds), -62_167_219_200), 253_402_300_799)
    }

    /// Seconds since midnight.
    private static func part(_ seconds: Int) -> Int {
        let rest = seconds % 86_400
        return rest < 0 ? rest + 86_400 : rest
    }
}
