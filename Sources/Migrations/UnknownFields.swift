// Always: a field the engine does not know stops it, wherever it stands.

package import ImportReport
package import JSON

/// Removes what the engine's schema does not have, by name. Runs last, so that the old fields are migrated first. Without a
/// schema it does nothing.
package struct UnknownFields: Migration {
    package let name = "unknown-fields"
    package let since = "1.8"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        guard let schema = context.schema else { return [] }
        var walk = Walk(schema: schema)
        walk.strip(&document, [schema.root], place: "")
        return walk.changes
    }
}

/// One pass over a document. What the schema says about a kind of object is worked out once, not once a line.
private struct Walk {
    private struct Kind: Hashable {
        let nodes: [Int]
        let telling: [JSON?]
    }

    let schema: EngineSchema
    var changes: [Change] = []
    private var shapes: [Kind: EngineSchema.Shape] = [:]
    private var items: [[Int]: [Int]] = [:]

    init(schema: EngineSchema) { self.schema = schema }

    mutating func strip(_ value: inout JSON, _ nodes: [Int], place: String) {
        switch value {
        case .object(let object):
            if let stripped = strip(object, nodes, place: place) { value = .object(stripped) }
        case .array(let list):
            let nodes = itemNodes(nodes)
            guard !nodes.isEmpty else { return }
            var result = list
            let before = changes.count
            for at in list.indices {
                switch list[at] {
                case .object, .array: strip(&result[at], nodes, place: "\(place)[\(at)]")
                default: continue
                }
            }
            if changes.count > before { value = .array(result) }
        default: return
        }
    }

    /// - Returns: nil when nothing changed.
    private mutating func strip(_ object: JSONObject, _ nodes: [Int], place: String) -> JSONObject? {
        let before = changes.count
        let shape = shape(of: object, nodes)
        var result = object
        if shape.isClosed {
            result.removeAll { member in
                guard shape.properties[member.key] == nil else { return false }
                changes.append(
                    Change(
                        place: Self.path(place, member.key), what: "removed",
                        reason: "the engine does not know this field"))
                return true
            }
        }
        for member in object.members {
            switch member.value {
            case .object, .array: break
            default: continue
            }
            let inner = shape.properties[member.key] ?? (shape.isClosed ? [] : shape.others)
            guard !inner.isEmpty else { continue }
            var value = member.value
            let count = changes.count
            strip(&value, inner, place: Self.path(place, member.key))
            if changes.count > count { result[member.key] = value }
        }
        return changes.count > before ? result : nil
    }

    private static func path(_ place: String, _ key: String) -> String { place.isEmpty ? key : place + "." + key }

    private mutating func shape(of object: JSONObject, _ nodes: [Int]) -> EngineSchema.Shape {
        let telling = EngineSchema.tellingKeys.map { object[$0] }
        // A hostile document may have as many kinds as it likes; only texts are worth remembering.
        let kind = Kind(nodes: nodes, telling: telling.map { value in value.map { .optional($0.string) } })
        if let known = shapes[kind] { return known }
        let shape = schema.shape(of: object, nodes)
        if shapes.count < 4096 { shapes[kind] = shape }
        return shape
    }

    private mutating func itemNodes(_ nodes: [Int]) -> [Int] {
        if let known = items[nodes] { return known }
        let found = schema.itemNodes(nodes)
        items[nodes] = found
        return found
    }
}
