// Small ways to edit a document whose every part may be of an unexpected type.

import JSON

extension JSON {
    /// Edits one member in place. Does nothing when this is no object or has no such member.
    mutating func edit(_ key: String, _ body: (inout JSON) -> Void) {
        guard case .object(var members) = self, var value = members[key] else { return }
        // Only one reference may be left, or every edit copies the list.
        members[key] = .null
        self = .null
        body(&value)
        members[key] = value
        self = .object(members)
    }

    /// Edits the items of a list at a path of keys; an item is dropped when `body` returns false. A single value is a list
    /// of one, as `listed` has it, and stays single. Does nothing where there is neither.
    mutating func editItems(_ path: [String], _ body: (inout JSON, Int) -> Bool) {
        guard let key = path.first else {
            guard case .array(let items) = self else {
                if !isNull, !body(&self, 0) { self = .null }
                return
            }
            var kept: [JSON] = []
            kept.reserveCapacity(items.count)
            for (at, item) in items.enumerated() {
                var item = item
                if body(&item, at) { kept.append(item) }
            }
            self = .array(kept)
            return
        }
        edit(key) { $0.editItems(Array(path.dropFirst()), body) }
    }

    /// Replaces every item of a list at a path by any number of others. A single value is a list of one, as `listed` has it.
    mutating func expandItems(_ path: [String], _ body: (JSON, Int) -> [JSON]) {
        guard let key = path.first else {
            guard case .array(let items) = self else {
                if !isNull { self = .listable(body(self, 0)) }
                return
            }
            self = .array(items.enumerated().flatMap { body($1, $0) })
            return
        }
        edit(key) { $0.expandItems(Array(path.dropFirst()), body) }
    }

    /// Appends to the list at `key`, making it when there is none.
    mutating func append(_ items: [JSON], to key: String) {
        guard !items.isEmpty else { return }
        self[key] = .array((self[key].array ?? []) + items)
    }

    /// True unless the engine takes the value for absent: null, false, 0, "", [] and {}.
    var isSet: Bool {
        switch self {
        case .null: false
        case .bool(let value): value
        case .number: int != 0
        case .string(let text): !text.isEmpty
        case .array(let items): !items.isEmpty
        case .object(let object): !object.isEmpty
        }
    }

    /// One value as itself, several as a list: how the corpus writes listable values.
    static func listable(_ values: [JSON]) -> JSON { values.count == 1 ? values[0] : .array(values) }
}

/// True for IPv4 and IPv6 addresses, with or without brackets.
func isAddress(_ text: String) -> Bool {
    if text.utf8.contains(UInt8(ascii: ":")) { return true }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { $0.utf8.count <= 3 && UInt8($0) != nil }
}
