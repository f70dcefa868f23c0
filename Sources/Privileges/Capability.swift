// Capabilities by number, and sets of them (capabilities(7)).

/// One capability.
package struct Capability: RawRepresentable, Hashable, Sendable {
    /// Its number in linux/capability.h.
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// CAP_NET_ADMIN: links, addresses, routes, rules, nft. The only one the worker keeps.
    package static let netAdmin = Capability(rawValue: 12)
}

/// A set of capabilities as the kernel prints it: one bit a number.
package struct CapabilitySet: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The set of these.
    package init(_ capabilities: [Capability]) {
        rawValue = capabilities.reduce(0) { $0 | 1 << UInt64($1.rawValue) }
    }

    /// No capability.
    package static let none = CapabilitySet(rawValue: 0)
    /// True when every member is in the other set.
    package func isSubset(of other: CapabilitySet) -> Bool { rawValue & ~other.rawValue == 0 }
    /// Whether the set holds a capability.
    package func contains(_ capability: Capability) -> Bool { rawValue >> UInt64(capability.rawValue) & 1 == 1 }

    package var description: String { "0x" + String(rawValue, radix: 16) }
}
