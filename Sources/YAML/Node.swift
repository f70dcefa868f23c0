// The YAML document as a value: scalars kept as their source text, mappings kept in order.

/// One YAML node. Aliases are already resolved and merge keys already applied.
package enum Node: Sendable, Hashable {
    case scalar(Scalar)
    case sequence([Node])
    case mapping(Mapping)

    /// The text of a scalar that is not null, else nil.
    package var text: String? {
        if case .scalar(let scalar) = self, !scalar.isNull { return scalar.text }
        return nil
    }

    /// The items of a sequence, else nil.
    package var sequence: [Node]? {
        if case .sequence(let items) = self { return items }
        return nil
    }

    /// The mapping, else nil.
    package var mapping: Mapping? {
        if case .mapping(let mapping) = self { return mapping }
        return nil
    }

    /// True for a plain `null`, `~` or nothing at all, and for anything tagged `!!null`.
    package var isNull: Bool {
        if case .scalar(let scalar) = self { return scalar.isNull }
        return false
    }

    /// A scalar that is text whatever it looks like, as if it had been written in quotes.
    package static func string(_ text: String) -> Node { .scalar(Scalar(text: text, isQuoted: true)) }
}

/// A scalar as it was written. Nothing is typed here: `0123`, `1e5` and `true` stay the texts they are, because only
/// the field that receives them knows what they mean.
package struct Scalar: Sendable, Hashable {
    /// What the document's tag says about the scalar.
    package enum Tag: Sendable, Hashable {
        case none
        /// `!!str` or `!`.
        case string
        /// `!!null`.
        case null
        /// Any other tag; the text counts as it stands.
        case other
    }

    /// The text, with escapes of double-quoted scalars resolved and lines of folded ones joined.
    package let text: String
    /// Written in quotes or as a block.
    package let isQuoted: Bool
    /// What the scalar is.
    package let tag: Tag

    package init(text: String, isQuoted: Bool = false, tag: Tag = .none) {
        self.text = text
        self.isQuoted = isQuoted
        self.tag = tag
    }

    /// Null by the core schema of YAML 1.2, section 10.3.2.
    package var isNull: Bool {
        if tag == .null { return true }
        guard tag == .none, !isQuoted else { return false }
        switch text {
        case "", "~", "null", "Null", "NULL": return true
        default: return false
        }
    }
}

/// A mapping's pairs in order. Keys that are no scalars are left out. Pairs merged by `<<` stand before the mapping's
/// own, so that "the last pair of a key counts" gives both YAML's merge rule and the usual rule for a repeated key.
package struct Mapping: Sendable, Hashable {
    /// One pair.
    package struct Pair: Sendable, Hashable {
        /// The key's source text.
        package let key: String
        /// The value.
        package let value: Node

        package init(key: String, value: Node) {
            self.key = key
            self.value = value
        }
    }

    /// The pairs, in the order of the source.
    package let pairs: [Pair]

    package init(pairs: [Pair]) { self.pairs = pairs }

    /// The value of the last pair with this key; nil when there is none.
    package subscript(key: String) -> Node? { pairs.last { $0.key == key }?.value }
}
