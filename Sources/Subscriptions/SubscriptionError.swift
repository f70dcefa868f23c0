// Why something is not a subscription. No text of the input appears here but what a provider wrote for people to read.

/// Why a subscription could not be read.
package struct SubscriptionError: Error, Hashable, CustomStringConvertible {
    /// The code other programs rely on.
    package enum Code: String, Sendable, CaseIterable {
        case notASubscription = "not-a-subscription"
        case empty
        case noLines = "no-lines"
        case badYAML = "bad-yaml"
        case badJSON = "bad-json"
        case tooLarge = "too-large"
        case providerError = "provider-error"
    }

    /// The stable name.
    package var code: Code
    /// An English sentence: what was found.
    package var detail: String
    /// The line of the text at fault, from 1.
    package var line: Int?
    /// What the provider itself says: a page's title, an error's message, the notes of an expired account.
    package var texts: [String]

    package init(_ code: Code, _ detail: String, line: Int? = nil, texts: [String] = []) {
        self.code = code
        self.detail = detail
        self.line = line
        self.texts = texts
    }

    package var description: String {
        let place = line.map { " (line \($0))" } ?? ""
        return "\(code.rawValue): \(detail)\(place)"
    }
}
