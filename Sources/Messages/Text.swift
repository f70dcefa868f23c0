// A sentence in the two languages of the product, and the choice between them.

/// A text a person reads, in Chinese and English. There is no way to make one with a language missing.
package struct Text: Hashable, Sendable {
    /// Simplified Chinese.
    package let chinese: String
    /// English.
    package let english: String

    /// - Parameters:
    ///   - chinese: simplified Chinese.
    ///   - english: English.
    package init(_ chinese: String, _ english: String) {
        self.chinese = chinese
        self.english = english
    }

    /// The same words in both languages: names, numbers, a system's own message.
    package init(verbatim text: String) { self.init(text, text) }

    /// The text in one language.
    package func callAsFunction(_ language: Language) -> String {
        switch language {
        case .chinese: chinese
        case .english: english
        }
    }

    /// Two texts one after the other.
    package static func + (left: Text, right: Text) -> Text {
        Text(left.chinese + right.chinese, left.english + right.english)
    }
}

extension Text {
    /// A count with its noun: `1 line`, `2 lines`; Chinese nouns have no plural.
    /// - Parameters:
    ///   - chinese: the measure word and noun, such as `条线路`.
    ///   - one: the English singular.
    ///   - many: the English plural; the singular and an s when nil.
    package static func count(_ count: Int, _ chinese: String, _ one: String, many: String? = nil) -> Text {
        Text("\(count) \(chinese)", "\(count) " + (count == 1 ? one : many ?? one + "s"))
    }
}

extension String {
    /// The Chinese of an English sentence made after one of these patterns, in which each `#` stands for words that are kept;
    /// nil when it is made after none.
    func inChinese(by patterns: [Text]) -> String? { patterns.lazy.compactMap(inChinese).first }

    private func inChinese(by pattern: Text) -> String? {
        let fixed = pattern.english.split(separator: "#", omittingEmptySubsequences: false)
        var rest = self[...]
        guard let start = fixed.first, rest.hasPrefix(start) else { return nil }
        rest = rest.dropFirst(start.count)
        var chinese = pattern.chinese.split(separator: "#", omittingEmptySubsequences: false)[...]
        var translated = String(chinese.removeFirst())
        for (place, next) in fixed.enumerated().dropFirst() {
            let isLast = place == fixed.count - 1
            let end =
                isLast
                ? rest.index(rest.endIndex, offsetBy: -next.count, limitedBy: rest.startIndex)
                : rest.firstRange(of: next)?.lowerBound
            guard let end, rest[end...].hasPrefix(next) else { return nil }
            translated += rest[..<end] + (chinese.popFirst() ?? "")
            rest = rest[end...].dropFirst(next.count)
        }
        return rest.isEmpty ? translated : nil
    }
}

/// The languages the product speaks.
package enum Language: String, Sendable, CaseIterable {
    case chinese = "zh"
    case english = "en"

    /// The language a user's environment asks for: the first of `TROCKET_LANG`, `LC_ALL`, `LC_MESSAGES` and `LANG` that is
    /// set and not empty decides (the order of locale(7), ours first). Anything that does not begin with `zh` is English.
    /// - Parameter variable: looks up an environment variable.
    package init(environment variable: (String) -> String?) {
        let names = ["TROCKET_LANG", "LC_ALL", "LC_MESSAGES", "LANG"]
        let value = names.compactMap { name in variable(name).flatMap { $0.isEmpty ? nil : $0 } }.first ?? ""
        self = value.lowercased().hasPrefix("zh") ? .chinese : .english
    }
}
