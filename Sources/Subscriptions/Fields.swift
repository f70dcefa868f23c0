// The fields of one node, whatever they were written in: Clash YAML, a share link or SIP008 all become this.

internal import YAML

/// A mapping whose keys are compared without case and with `_` as `-`, and whose values are typed by whoever asks
/// (`mapping.md` 1.1). Of a repeated key the last value counts.
struct Fields {
    private(set) var values: [String: Node]

    init() { values = [:] }

    init(_ mapping: Mapping) {
        values = Dictionary(minimumCapacity: mapping.pairs.count)
        for pair in mapping.pairs { values[Self.normal(pair.key)] = pair.value }
    }

    /// A key in lower case with `-` for `_`.
    static func normal(_ key: String) -> String {
        let changes = key.utf8.contains { $0 == UInt8(ascii: "_") || ($0 >= 0x41 && $0 <= 0x5A) }
        guard changes else { return key }
        return String(
            decoding: key.utf8.map { byte -> UInt8 in
                if byte == UInt8(ascii: "_") { return UInt8(ascii: "-") }
                return byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
            }, as: UTF8.self)
    }

    /// The value of a field; nil when absent or null. The key must be in normal form.
    func node(_ key: String) -> Node? {
        guard let node = values[key], !node.isNull else { return nil }
        return node
    }

    func has(_ key: String) -> Bool { node(key) != nil }

    /// A field's text; nil when absent, null or empty.
    /// - Throws: `bad_field` for a list or mapping.
    func text(_ key: String, as field: String? = nil) throws(Fault) -> String? {
        guard let node = node(key) else { return nil }
        guard let text = node.text else { throw .bad(field ?? key) }
        return text.isEmpty ? nil : text
    }

    /// A field's text.
    /// - Throws: `missing_field` when absent, null or empty.
    func required(_ key: String, as field: String? = nil) throws(Fault) -> String {
        guard let text = try text(key, as: field) else { throw .missing(field ?? key) }
        return text
    }

    /// The text of the first of two fields that has one.
    func first(_ key: String, _ other: String) throws(Fault) -> String? {
        if let text = try text(key) { return text }
        return try text(other)
    }

    /// A field's text in lower case, trimmed.
    func word(_ key: String, as field: String? = nil) throws(Fault) -> String? {
        guard let text = try text(key, as: field) else { return nil }
        let word = text.trimmed.lowercased()
        return word.isEmpty ? nil : word
    }

    /// A switch: `true`, `false`, `1` or `0` in any case.
    func flag(_ key: String, as field: String? = nil) throws(Fault) -> Bool? {
        guard let word = try word(key, as: field) else { return nil }
        switch word {
        case "true", "1": return true
        case "false", "0": return false
        default: throw .bad(field ?? key)
        }
    }

    /// A whole number of zero or more: `443`, `"443"` or `443.0`.
    func number(_ key: String, as field: String? = nil) throws(Fault) -> Int? {
        guard let text = try text(key, as: field) else { return nil }
        guard let value = Self.whole(text) else { throw .bad(field ?? key) }
        return value
    }

    static func whole(_ text: String) -> Int? {
        var digits = text.trimmed[...]
        if let dot = digits.utf8.firstIndex(of: UInt8(ascii: ".")) {
            guard digits.utf8[digits.utf8.index(after: dot)...].allSatisfy({ $0 == 0x30 }) else { return nil }
            digits = digits[..<dot]
        }
        guard let first = digits.utf8.first, first.isDigit, let value = Int(digits), value >= 0 else { return nil }
        return value
    }

    /// A list of texts; a single text is split at commas.
    func list(_ key: String, as field: String? = nil) throws(Fault) -> [String]? {
        guard let node = node(key) else { return nil }
        switch node {
        case .scalar(let scalar):
            return scalar.text.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
        case .sequence(let items):
            var out: [String] = []
            for item in items where !item.isNull {
                guard let text = item.text else { throw .bad(field ?? key) }
                let trimmed = text.trimmed
                if !trimmed.isEmpty { out.append(trimmed) }
            }
            return out
        case .mapping: throw .bad(field ?? key)
        }
    }

    /// The fields of an inner mapping; nil when absent or null.
    func inner(_ key: String) throws(Fault) -> Fields? {
        guard let node = node(key) else { return nil }
        guard let mapping = node.mapping else { throw .bad(key) }
        return Fields(mapping)
    }

    /// The pairs of an inner mapping of texts with their keys as written; of a list the first item counts.
    func pairs(_ key: String, as field: String? = nil) throws(Fault) -> [(key: String, value: String)] {
        guard let node = node(key) else { return [] }
        guard let mapping = node.mapping else { throw .bad(field ?? key) }
        var out: [(key: String, value: String)] = []
        for pair in mapping.pairs where !pair.value.isNull {
            let value = pair.value.sequence.map { $0.first ?? .string("") } ?? pair.value
            guard let text = value.text else { throw .bad(field ?? key) }
            out.removeAll { $0.key == pair.key }
            out.append((pair.key, text))
            if out.count > 64 { throw .bad(field ?? key) }
        }
        return out
    }

    // MARK: Building

    mutating func set(_ key: String, _ text: String?) {
        if let text, !text.isEmpty { values[key] = .string(text) }
    }

    mutating func set(_ key: String, flag: Bool) { values[key] = .string(flag ? "true" : "false") }

    mutating func set(_ key: String, list: [String]) { values[key] = .sequence(list.map(Node.string)) }

    mutating func set(_ key: String, _ inner: [(String, Node)]) {
        values[key] = .mapping(Mapping(pairs: inner.map { Mapping.Pair(key: $0.0, value: $0.1) }))
    }

    mutating func set(_ key: String, node: Node) { values[key] = node }
}
