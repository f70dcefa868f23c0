// Domestic destinations: reading their list, and the intervals a kernel set keeps them as.

package import Addressing

/// Why a list of domestic prefixes is not used. One bad line spoils all of it: half a list would be a silent fault.
package enum DomesticListError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLarge
    case tooMany
    case empty
    /// The line, counted from 1, is no prefix in its one form, or covers more than a country can have.
    case badLine(Int)

    package var description: String {
        switch self {
        case .tooLarge: "it is larger than \(DomesticList.sizeLimit) bytes"
        case .tooMany: "it holds more than \(DomesticList.countLimit) prefixes"
        case .empty: "it holds no prefix"
        case .badLine(let line): "line \(line) is no prefix of a plausible length"
        }
    }
}

/// The list `cn-prefixes.txt`: one prefix a line, both families.
package enum DomesticList {
    /// Bytes.
    package static let sizeLimit = 1 << 20
    /// The real list has 9,609.
    package static let countLimit = 20_000
    private static let lineLimit = 64
    /// Shorter prefixes would carry a good part of the world past the tunnel: the widest real ones are /10 and /19.
    private static let shortest: [AddressFamily: Int] = [.ipv4: 8, .ipv6: 16]

    /// Reads a list.
    /// - Returns: the prefixes sorted, none inside another.
    /// - Throws: `DomesticListError`.
    package static func parse(_ bytes: [UInt8]) throws(DomesticListError) -> [Prefix] {
        guard bytes.count <= sizeLimit else { throw .tooLarge }
        var prefixes: [Prefix] = []
        var start = 0
        var line = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            line += 1
            guard end - start <= lineLimit,
                let prefix = Prefix(String(decoding: bytes[start..<end], as: UTF8.self)),
                prefix.length >= shortest[prefix.family] ?? 0
            else { throw .badLine(line) }
            guard prefixes.count < countLimit else { throw .tooMany }
            prefixes.append(prefix)
            start = end + 1
        }
        guard !prefixes.isEmpty else { throw .empty }
        return Prefix.minimal(prefixes)
    }
}

/// Neighbouring addresses: from the first to the one before `end`.
package struct AddressInterval: Hashable, Sendable {
    /// The first.
    package let first: IPAddress
    /// The address behind the last; nil when there is none in the family.
    package let end: IPAddress?

    /// The fewest intervals that hold the addresses of prefixes of one family and no others.
    /// - Parameter prefixes: sorted, none inside another.
    package static func covering(_ prefixes: some Sequence<Prefix>) -> [AddressInterval] {
        var intervals: [AddressInterval] = []
        for prefix in prefixes {
            if let last = intervals.last, last.end == prefix.address {
                intervals[intervals.count - 1] = AddressInterval(first: last.first, end: prefix.addressBehind)
            } else {
                intervals.append(AddressInterval(first: prefix.address, end: prefix.addressBehind))
            }
        }
        return intervals
    }
}

extension Prefix {
    /// The address right behind the last one; nil at the end of the family.
    fileprivate var addressBehind: IPAddress? {
        switch address {
        case .ipv4(let address):
            let (next, isOver) = UInt64(address.rawValue).addingReportingOverflow(1 << UInt64(32 - length))
            return isOver ? nil : UInt32(exactly: next).map { .ipv4(IPv4Address(rawValue: $0)) }
        case .ipv6(let address):
            let step = 128 - length
            guard step < 128 else { return nil }
            let (low, carry) =
                step < 64 ? address.low.addingReportingOverflow(1 << UInt64(step)) : (address.low, false)
            let more: UInt64 = step < 64 ? (carry ? 1 : 0) : 1 << UInt64(step - 64)
            let (high, isOver) = address.high.addingReportingOverflow(more)
            return isOver ? nil : .ipv6(IPv6Address(high: high, low: low))
        }
    }
}
