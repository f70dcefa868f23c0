// What a provider says beside the lines: quota, title, interval, from headers in all their variants.

import Notation
package import Store

/// The headers of a subscription's answer that mean something to a person.
package struct ProviderDetails: Hashable, Sendable {
    /// Traffic and expiry.
    package var quota: Quota?
    /// The provider's name of the subscription.
    package var title: String?
    /// Hours after which the provider wants to be asked again.
    package var intervalHours: Int?

    package init(quota: Quota? = nil, title: String? = nil, intervalHours: Int? = nil) {
        self.quota = quota
        self.title = title
        self.intervalHours = intervalHours
    }

    /// Reads an answer's headers.
    /// - Parameter header: a header's value by name, in any case; nil when absent.
    package init(header: (String) -> String?) {
        for name in ["subscription-userinfo", "x-subscription-userinfo", "subscription-user-info"] where quota == nil {
            quota = header(name).flatMap { Self.quota($0) }
        }
        title =
            header("profile-title").flatMap { Self.plainTitle($0) }
            ?? header("content-disposition").flatMap { Self.fileName($0) }
        intervalHours = header("profile-update-interval").flatMap { Self.interval($0) }
    }

    /// Fills in what is missing here from another answer.
    package func completed(by other: ProviderDetails) -> ProviderDetails {
        ProviderDetails(
            quota: quota ?? other.quota, title: title ?? other.title,
            intervalHours: intervalHours ?? other.intervalHours)
    }

    /// `upload=1; download=2; total=3; expire=4`, with fractions, exponents, negatives, commas, missing and absurd parts.
    package static func quota(_ value: String) -> Quota? {
        var quota = Quota()
        var found = false
        for part in value.split(whereSeparator: { $0 == ";" || $0 == "," || $0 == "&" }) {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let key = trimmed(pair[0]).lowercased()
            let text = trimmed(pair[1]).filter { $0 != "\"" }
            switch key {
            case "upload": quota.upload = bytes(text)
            case "download": quota.download = bytes(text)
            // Nobody sells nothing: 0 stands for "no limit" or "not known".
            case "total": quota.total = bytes(text).flatMap { $0 > 0 ? $0 : nil }
            case "expire", "expires", "expiry": quota.expire = moment(text)
            default: continue
            }
            found = true
        }
        return found && quota != Quota() ? quota : nil
    }

    /// A number of bytes; below zero becomes zero, and a number nobody can mean becomes nothing.
    private static func bytes(_ text: String) -> Int64? {
        guard let value = Double(text), value.isFinite, value < 9e18 else { return nil }
        return value <= 0 ? 0 : Int64(value)
    }

    /// Seconds since 1970; milliseconds and microseconds are recognised by their size, `2027-01-01` by its form.
    static func moment(_ text: String) -> Int64? {
        if let date = civil(text) { return date }
        guard var value = Double(text), value.isFinite, value > 0 else { return nil }
        // The year 9999 in seconds; anything later is a smaller unit.
        while value > 253_402_300_799 {
            value /= 1000
            if value < 1_000_000_000 { return nil }
        }
        return Int64(value)
    }

    /// `2027-01-01`, `2027/1/1`, with or without a time behind; at midnight UTC.
    static func civil(_ text: some StringProtocol) -> Int64? {
        let parts = text.split(maxSplits: 2) { $0 == "-" || $0 == "/" || $0 == "." || $0 == "年" || $0 == "月" }
        guard parts.count == 3, let year = Int(parts[0]), let month = Int(parts[1]),
            let day = Int(parts[2].prefix { $0.isASCII && $0.isNumber }),
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        return Int64(date.daysSince1970) * 86_400
    }

    /// `profile-title`: plain, percent-encoded, or `base64:…`.
    static func plainTitle(_ value: String) -> String? {
        let value = trimmed(value)
        if value.lowercased().hasPrefix("base64:") {
            return Base64.decode(value.dropFirst("base64:".count).utf8)
                .flatMap { shown(String(decoding: $0, as: UTF8.self)) }
        }
        return shown(value.percentDecoded)
    }

    /// `content-disposition`: `filename*=UTF-8''…` (RFC 5987) before `filename="…"`.
    static func fileName(_ value: String) -> String? {
        var plain: String?
        for part in value.split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let text = trimmed(pair[1]).filter { $0 != "\"" }
            switch trimmed(pair[0]).lowercased() {
            case "filename*":
                let encoded = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false).last ?? ""
                if let name = shown(withoutSuffix(encoded.percentDecoded)) { return name }
            case "filename": plain = shown(withoutSuffix(text.percentDecoded))
            default: break
            }
        }
        return plain
    }

    private static func withoutSuffix(_ name: String) -> String {
        for suffix in [".yaml", ".yml", ".json", ".txt"] where name.lowercased().hasSuffix(suffix) {
            return String(name.dropLast(suffix.count))
        }
        return name
    }

    private static func interval(_ value: String) -> Int? {
        guard let hours = Double(trimmed(value)), hours.isFinite, hours > 0, hours <= 8760 else { return nil }
        return max(1, Int(hours.rounded(.up)))
    }

    /// A name as a terminal may show it: one line, no control characters, at most 80 characters; nil when nothing is left.
    package static func shown(_ text: String) -> String? {
        let kept = String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
                    case .format: scalar == "\u{200d}"
                    default: true
                    }
                }))
        let name = trimmed(kept.prefix(80))
        return name.isEmpty ? nil : name
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var rest = Substring(text).drop { $0.isWhitespace }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
