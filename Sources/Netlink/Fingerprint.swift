// Comparing thousands of routes or set elements with what is wanted, without keeping either of them.

/// A number that two collections share when they hold the same things, in whatever order: how many, and the sum of their
/// hashes (FNV-1a). It finds accidents and other programs' changes; it is no proof against a forger, who would need
/// CAP_NET_ADMIN anyway.
package struct Fingerprint: Hashable, Sendable {
    /// How many.
    package private(set) var count = 0
    private var sum: UInt64 = 0

    /// Of nothing.
    package init() {}

    /// Takes one thing in, as bytes and a number.
    mutating func add(_ bytes: some Sequence<UInt8>, _ number: UInt8) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        count += 1
        sum &+= (hash ^ UInt64(number)) &* 0x100_0000_01b3
    }
}
