// Members of a JSON object as texts, for links that carry JSON.

internal import JSON

/// The members of a JSON object, numbers and switches as their source text.
struct JSONFields {
    private let values: [String: String]

    /// Reads a text; nil when it is no JSON object.
    init?(_ text: String) {
        guard let object = (try? JSON.parse(text, dialect: .lenient, maximumDepth: 8))?.object else { return nil }
        var values: [String: String] = [:]
        for member in object.members {
            let text: String? =
                switch member.value {
                case .string(let value): value
                case .number(let value): value
                case .bool(let value): value ? "true" : "false"
                case .array(let items): items.compactMap(\.string).joined(separator: ",")
                default: nil
                }
            if let text { values[member.key.lowercased()] = text }
        }
        self.values = values
    }

    /// A member's text, trimmed; nil when absent or empty.
    subscript(_ key: String) -> String? {
        guard let value = values[key]?.trimmed, !value.isEmpty else { return nil }
        return value
    }
}
