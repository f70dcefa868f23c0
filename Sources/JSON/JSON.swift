// A JSON value that keeps what a configuration needs kept: key order and the exact text of numbers.

/// One JSON value (RFC 8259). Objects keep the order of their keys; numbers keep their source text, so that nothing is
/// rounded on its way from a provider to the engine.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number as written, such as `443` or `1.50`.
    case number(String)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

extension JSON {
    /// A whole number.
    package static func int(_ value: some BinaryInteger) -> JSON { .number(String(value)) }

    /// A floating-point number; infinities and NaN, which JSON cannot hold, become null.
    package static func double(_ value: Double) -> JSON {
        guard value.isFinite else { return .null }
        if let whole = Int64(exactly: value) { return .int(whole) }
        return .number(String(value))
    }

    /// A string, or null for nil.
    package static func optional(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }

    /// A whole number, or null for nil.
    package static func optional(_ value: (some BinaryInteger)?) -> JSON { value.map { JSON.int($0) } ?? .null }

    /// A list of strings.
    package static func strings(_ values: some Sequence<String>) -> JSON { .array(values.map(JSON.string)) }
}

extension JSON {
    /// The text of a string value, else nil.
    package var string: String? {
        if case .string(let value) = self { return value }
        return nil
    }

    /// The value of a boolean, else nil.
    package var bool: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }

    /// The value of a number that is a whole number in range, else nil. `443.0` counts as 443.
    package var int: Int? {
        guard case .number(let text) = self else { return nil }
        if let value = Int(text) { return value }
        return Double(text).flatMap { Int(exactly: $0) }
    }

    /// The value of a number, else nil.
    package var double: Double? {
        guard case .number(let text) = self else { return nil }
        return Double(text)
    }

    /// The items of an array, else nil.
    package var array: [JSON]? {
        if case .array(let value) = self { return value }
        return nil
    }

    /// The object, else nil.
    package var object: JSONObject? {
        if case .object(let value) = self { return value }
        return nil
    }

    /// True for `null`.
    package var isNull: Bool { self == .null }

    /// The items of a "listable" value as sing-box uses them: an array as it is, a single value as a list of one, null as
    /// an empty list.
    package var listed: [JSON] {
        switch self {
        case .array(let items): items
        case .null: []
        default: [self]
        }
    }

    /// A member of an object; null when absent or when this is no object. Setting a member of a value that is no object
    /// makes it one; setting null keeps an explicit null (use `removeMember` to take a key out).
    package subscript(key: String) -> JSON {
        get { object?[key] ?? .null }
        set {
            var members = object ?? JSONObject()
            self = .null
            members[key] = newValue
            self = .object(members)
        }
    }

    /// Takes a member out of an object and returns it; nil when there was none.
    @discardableResult
    package mutating func removeMember(_ key: String) -> JSON? {
        guard case .object(var members) = self else { return nil }
        self = .null
        let old = members.removeValue(forKey: key)
        self = .object(members)
        return old
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .number(String(value)) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
    package init(nilLiteral: ()) { self = .null }
}
