// An IPv4 address as a value.

/// An IPv4 address. Written and read as four decimal numbers without leading zeros (RFC 6943 3.1.1: other spellings mean
/// different addresses to different readers, so they are refused).
package struct IPv4Address: Hashable, Sendable {
    /// The address in host byte order; 10.0.0.1 is `0x0a00_0001`.
    package let rawValue: UInt32

    /// An address from its number in host byte order.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// An address from its four bytes in network order; nil for any other count.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 else { return nil }
        rawValue = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The four bytes in network order.
    package var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> (24 - 8 * $0)) } }
}

extension IPv4Address: LosslessStringConvertible {
    package init?(_ description: String) {
        let parts = description.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            guard let byte = UInt8(decimal: part) else { return nil }
            value = value << 8 | UInt32(byte)
        }
        rawValue = value
    }

    package var description: String { bytes.map { String($0) }.joined(separator: ".") }
}

extension IPv4Address: Comparable {
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// Reads digits only: no sign, no space, no leading zero, no overflow.
    init?(decimal digits: some Collection<UInt8>) {
        guard let first = digits.first, digits.count == 1 || first != UInt8(ascii: "0") else { return nil }
        var value: Self = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(Self(digit - UInt8(ascii: "0")))
            guard !tooLarge, !carried else { return nil }
            value = sum
        }
        self = value
    }
}
