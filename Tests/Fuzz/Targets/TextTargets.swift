// The targets that read one text: YAML and JSON.

import JSON
import YAML

extension FuzzTarget {
    static func yaml(_ input: [UInt8]) throws(Violation) {
        let cleaned = YAMLText.cleaned(input)
        try demand(YAMLText.cleaned(cleaned) == cleaned, "cleaning a clean text changes it")
        var limits = YAMLLimits()
        limits.depth = 8
        limits.expandedNodes = 1000
        limits.nodes = 4000
        guard let node = try? Node.parse(yaml: input, limits: limits) else { return }
        var count = 0
        try demand(depth(node, &count) <= limits.depth, "nested deeper than the limit")
        try demand(count <= limits.nodes + limits.expandedNodes * 2, "\(count) nodes are more than the limit")
        try demand((try? Node.parse(yaml: input, limits: limits)) == node, "read twice, it is two things")
        try demand((try? Node.parse(yaml: input)) != nil, "wider limits refuse what narrower ones let pass")
    }

    /// How deep a node nests; counts the nodes below it.
    private static func depth(_ node: Node, _ count: inout Int) -> Int {
        count += 1
        switch node {
        case .scalar: return 0
        case .sequence(let items):
            var deepest = 0
            for item in items { deepest = max(deepest, depth(item, &count)) }
            return deepest + 1
        case .mapping(let mapping):
            var deepest = 0
            for pair in mapping.pairs { deepest = max(deepest, depth(pair.value, &count)) }
            return deepest + 1
        }
    }

    static func json(_ input: [UInt8]) throws(Violation) {
        let strict = try? JSON.parse(input)
        let lenient = try? JSON.parse(input, dialect: .lenient)
        if let strict {
            try demand(lenient?.encoded() == strict.encoded(), "the lenient dialect reads strict JSON otherwise")
        }
        guard let value = lenient else { return }
        try rewrites(value)
        var numbers = 0
        try walk(value, &numbers)
    }

    /// Demands that a value written is the value read, byte by byte.
    static func rewrites(_ value: JSON) throws(Violation) {
        for pretty in [false, true] {
            let text = value.encoded(pretty: pretty)
            try demand(pretty || !text.contains(0x0A), "a line feed in one line of JSON")
            let again = try? JSON.parse(text)
            try demand(again == value, "written and read again, it is another value")
            try demand(again?.encoded(pretty: pretty) == text, "written, read and written again, it is another text")
        }
    }

    /// Asks every value for everything it may be.
    private static func walk(_ value: JSON, _ numbers: inout Int) throws(Violation) {
        if let whole = value.int, let double = value.double {
            try demand(whole == 0 || (whole > 0) == (double > 0), "a whole number changes its sign")
            numbers += 1
        }
        for item in value.array ?? [] { try walk(item, &numbers) }
        for member in value.object?.members ?? [] {
            try demand(value[member.key] == member.value, "a member is not found under its key")
            try walk(member.value, &numbers)
        }
    }
}
