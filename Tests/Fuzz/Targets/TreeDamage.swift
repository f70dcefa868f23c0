// Damage to a JSON document that keeps it JSON: values replaced, members doubled, moved, dropped.

package import JSON

/// A small generator that gives the same sequence everywhere (SplitMix64).
package struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// A document to be damaged with parts of its own.
package struct TreeDamage {
    private let document: JSON
    /// Every string and every small part of the document, to put in other places.
    private var parts: [JSON] = [
        nil, true, false, 0, -1, 65_536, "", "direct", "any", "local", "fakeip", "proxy", "auto", [], [[]], [nil],
        ["type": "direct"], ["tag": 5], ["server": "local"], .number("1e999"), "rcode://x", "[", "dhcp://",
    ]

    package init(_ document: JSON) {
        self.document = document
        collect(document)
    }

    private mutating func collect(_ value: JSON) {
        switch value {
        case .array(let items):
            if items.count < 4 { parts.append(value) }
            for item in items { collect(item) }
        case .object(let object):
            if object.count < 8 { parts.append(value) }
            for member in object.members { collect(member.value) }
        default: parts.append(value)
        }
    }

    /// The document with a few places changed.
    package func damaged(_ random: inout Seeded) -> JSON {
        let places = max(1, parts.count - 23)
        return damage(document, places / Int.random(in: 1...4, using: &random) + 1, &random)
    }

    private func damage(_ value: JSON, _ odds: Int, _ random: inout Seeded) -> JSON {
        if Int.random(in: 0..<odds, using: &random) == 0 { return parts.randomElement(using: &random) ?? nil }
        switch value {
        case .array(let items):
            var items = items.map { damage($0, odds, &random) }
            if Int.random(in: 0..<odds, using: &random) == 0, let one = items.randomElement(using: &random) {
                items.insert(one, at: Int.random(in: 0...items.count, using: &random))
            }
            return .array(items)
        case .object(let object):
            var result = JSONObject()
            for member in object.members where Int.random(in: 0..<odds, using: &random) != 0 {
                result[member.key] = damage(member.value, odds, &random)
            }
            return .object(result)
        default: return value
        }
    }
}
