// The members of a JSON object, in the order they were written.

/// An ordered dictionary of JSON members. Look-up is by scan while small and by an index once large, so that neither the
/// usual object of ten members nor a hostile one of a million costs more than it must. A key set twice keeps its first
/// place and its last value, as the engine's parser does.
package struct JSONObject: Sendable {
    /// One member.
    package struct Member: Hashable, Sendable {
        /// The name.
        package let key: String
        /// The value.
        package var value: JSON
    }

    private static let scanLimit = 16
    /// The members in order.
    package private(set) var members: [Member] = []
    private var index: [String: Int] = [:]

    /// An empty object.
    package init() {}

    /// An object of these members; a repeated key keeps the last value.
    package init(_ pairs: some Sequence<(String, JSON)>) {
        for (key, value) in pairs { self[key] = value }
    }

    /// The number of members.
    package var count: Int { members.count }
    /// True without members.
    package var isEmpty: Bool { members.isEmpty }
    /// The keys in order.
    package var keys: [String] { members.map(\.key) }

    private func position(of key: String) -> Int? {
        if members.count > Self.scanLimit { return index[key] }
        return members.firstIndex { $0.key == key }
    }

    /// A member's value; nil when absent. Setting nil removes the member.
    package subscript(key: String) -> JSON? {
        get { position(of: key).map { members[$0].value } }
        set {
            guard let newValue else {
                removeValue(forKey: key)
                return
            }
            if let at = position(of: key) {
                members[at].value = newValue
                return
            }
            members.append(Member(key: key, value: newValue))
            if members.count == Self.scanLimit + 1 {
                rebuildIndex()
            } else if members.count > Self.scanLimit {
                index[key] = members.count - 1
            }
        }
    }

    /// Takes a member out and returns its value; nil when there was none.
    @discardableResult
    package mutating func removeValue(forKey key: String) -> JSON? {
        guard let at = position(of: key) else { return nil }
        let old = members.remove(at: at).value
        rebuildIndex()
        return old
    }

    /// Removes every member the predicate picks.
    package mutating func removeAll(where shouldRemove: (Member) -> Bool) {
        members.removeAll(where: shouldRemove)
        rebuildIndex()
    }

    private mutating func rebuildIndex() {
        index.removeAll(keepingCapacity: false)
        guard members.count > Self.scanLimit else { return }
        for (at, member) in members.enumerated() { index[member.key] = at }
    }
}

extension JSONObject: Hashable {
    /// Equal when both hold the same members, in whatever order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    package func hash(into hasher: inout Hasher) {
        var sum = 0
        for member in members { sum ^= member.hashValue }
        hasher.combine(sum)
    }
}
