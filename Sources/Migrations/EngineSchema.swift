// The engine's own description of its configuration, read so that unknown fields can be found by name.

package import JSON

/// The JSON schema the engine prints (`sing-box schema`, 1.14 and newer), as far as it says which fields an object may
/// have: `properties`, `additionalProperties`, `unevaluatedProperties`, `$ref`, `oneOf`, `anyOf`, `allOf`, `items`, and
/// `const`/`enum` of members such as `type` that tell alternatives apart.
/// Source: <https://json-schema.org/draft/2020-12/schema>.
package struct EngineSchema: Sendable {
    struct Node: Sendable {
        var reference: Int?
        var properties: [String: Int] = [:]
        var alternatives: [Int] = []
        var parts: [Int] = []
        var items: Int?
        /// What other members are checked against; nil when nothing is said.
        var additional: Int?
        /// No members but those named.
        var isClosed = false
        /// The texts a `const` or `enum` allows.
        var texts: Set<String>?
        /// True for a node that describes something other than an object.
        var isNoObject = false
    }

    private(set) var nodes: [Node] = []
    private(set) var root = 0

    /// - Returns: nil when the document is no schema.
    package init?(_ document: JSON) {
        guard document["properties"].object != nil else { return nil }
        var definitions: [String: Int] = [:]
        nodes.append(Node())
        for member in document["$defs"].object?.members ?? [] {
            definitions["#/$defs/" + member.key] = nodes.count
            nodes.append(Node())
        }
        for member in document["$defs"].object?.members ?? [] {
            guard let at = definitions["#/$defs/" + member.key] else { continue }
            nodes[at] = read(member.value, definitions)
        }
        nodes[0] = read(document, definitions)
    }

    private mutating func add(_ schema: JSON, _ definitions: [String: Int]) -> Int {
        let node = read(schema, definitions)
        nodes.append(node)
        return nodes.count - 1
    }

    private mutating func read(_ schema: JSON, _ definitions: [String: Int]) -> Node {
        var node = Node()
        node.reference = schema["$ref"].string.flatMap { definitions[$0] }
        for member in schema["properties"].object?.members ?? [] {
            node.properties[member.key] = add(member.value, definitions)
        }
        for alternative in schema["oneOf"].listed + schema["anyOf"].listed {
            node.alternatives.append(add(alternative, definitions))
        }
        for part in schema["allOf"].listed { node.parts.append(add(part, definitions)) }
        if schema["items"].object != nil { node.items = add(schema["items"], definitions) }
        let additional = schema["additionalProperties"]
        if additional.object != nil { node.additional = add(additional, definitions) }
        node.isClosed = additional == false || schema["unevaluatedProperties"] == false
        if let text = schema["const"].string {
            node.texts = [text]
        } else if schema["enum"].array != nil {
            node.texts = Set(schema["enum"].listed.compactMap(\.string))
        }
        if let type = schema["type"].string { node.isNoObject = type != "object" }
        return node
    }

    /// What the schema says about one object.
    struct Shape {
        var properties: [String: [Int]] = [:]
        /// Nodes for members that are not named.
        var others: [Int] = []
        /// True when a member that is not named is an error.
        var isClosed = false
    }

    /// The union of what these nodes say about an object, following only alternatives that its members allow.
    func shape(of object: JSONObject, _ candidates: [Int]) -> Shape {
        var shape = Shape()
        var isOpen = false
        var seen: Set<Int> = []
        for candidate in candidates { collect(candidate, object, &shape, &isOpen, &seen) }
        shape.isClosed = shape.isClosed && !isOpen
        return shape
    }

    private func collect(
        _ at: Int, _ object: JSONObject, _ shape: inout Shape, _ isOpen: inout Bool, _ seen: inout Set<Int>
    ) {
        guard seen.insert(at).inserted else { return }
        let node = nodes[at]
        if let reference = node.reference { collect(reference, object, &shape, &isOpen, &seen) }
        for (key, value) in node.properties { shape.properties[key, default: []].append(value) }
        if let additional = node.additional { shape.others.append(additional) }
        if node.isClosed { shape.isClosed = true }
        for part in node.parts { collect(part, object, &shape, &isOpen, &seen) }
        guard !node.alternatives.isEmpty else { return }
        let fitting = node.alternatives.filter { fits($0, object, 0) }
        // None fits: the object is of a kind the engine does not know, and not for us to cut.
        if fitting.isEmpty { isOpen = true }
        for alternative in fitting { collect(alternative, object, &shape, &isOpen, &seen) }
    }

    /// The members that tell kinds of objects apart.
    static let tellingKeys = ["type", "action"]

    /// False for an alternative that cannot describe this object: another kind of value, or another `type` or `action`.
    private func fits(_ at: Int, _ object: JSONObject, _ depth: Int) -> Bool {
        guard depth < 16 else { return true }
        let node = nodes[at]
        if node.isNoObject || node.texts != nil { return false }
        if let reference = node.reference, !fits(reference, object, depth + 1) { return false }
        for key in Self.tellingKeys {
            guard let value = node.properties[key], let texts = nodes[value].texts else { continue }
            if let member = object[key] {
                guard let text = member.string, texts.contains(text) else { return false }
            } else if !texts.contains(""), key == "type" || !texts.contains("route") {
                // A kind that must be named; `route` is what an absent action means.
                return false
            }
        }
        for part in node.parts where !fits(part, object, depth + 1) { return false }
        if !node.alternatives.isEmpty { return node.alternatives.contains { fits($0, object, depth + 1) } }
        return true
    }

    /// The nodes that describe the items of a list, or one value standing for a list.
    func itemNodes(_ candidates: [Int]) -> [Int] {
        var result: [Int] = []
        var seen: Set<Int> = []
        var open = candidates
        while let at = open.popLast() {
            guard seen.insert(at).inserted else { continue }
            let node = nodes[at]
            if let items = node.items { result.append(items) }
            if let reference = node.reference { open.append(reference) }
            open += node.alternatives + node.parts
        }
        return result
    }
}
