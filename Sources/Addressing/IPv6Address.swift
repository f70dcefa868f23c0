// An IPv6 address as a value.

/// An IPv6 address without a zone. Read in every form of RFC 4291 2.2, written in the one form of RFC 5952.
package struct IPv6Address: Hashable, Sendable {
    /// The first 64 bits, in host byte order.
    package let high: UInt64
    /// The last 64 bits, in host byte order.
    package let low: UInt64

    /// An address from its two halves in host byte order.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// An address from its sixteen bytes in network order; nil for any other count.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The sixteen bytes in network order.
    package var bytes: [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * ($0 % 8))) }
    }

    /// The eight groups of sixteen bits.
    package var groups: [UInt16] {
        (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> (48 - 16 * ($0 % 4))) }
    }

    /// The IPv4 address inside `::ffff:0:0/96`, else nil.
    package var mappedIPv4: IPv4Address? {
        high == 0 && low >> 32 == 0xffff ? IPv4Address(rawValue: UInt32(truncatingIfNeeded: low)) : nil
    }
}

extension IPv6Address: Comparable {
    package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

extension IPv6Address: LosslessStringConvertible {
    package init?(_ description: String) {
        let text = Array(description.utf8)
        guard text.count <= 45, let halves = Self.halves(of: text) else { return nil }
        guard let front = Self.groups(halves.front, mayEndInIPv4: halves.back == nil) else { return nil }
        var all = front
        if let back = halves.back {
            guard let tail = Self.groups(back, mayEndInIPv4: true), front.count + tail.count < 8 else { return nil }
            all += Array(repeating: 0, count: 8 - front.count - tail.count) + tail
        }
        guard all.count == 8 else { return nil }
        high = all[..<4].reduce(0) { $0 << 16 | UInt64($1) }
        low = all[4...].reduce(0) { $0 << 16 | UInt64($1) }
    }

    /// Splits at `::`; `back` is nil when there is none. Nil when there are two.
    private static func halves(of text: [UInt8]) -> (front: ArraySlice<UInt8>, back: ArraySlice<UInt8>?)? {
        let colon = UInt8(ascii: ":")
        let places = text.indices.dropLast().filter { text[$0] == colon && text[$0 + 1] == colon }
        guard let place = places.first else { return (text[...], nil) }
        guard places.count == 1 else { return nil }
        return (text[..<place], text[(place + 2)...])
    }

    private static func groups(_ text: ArraySlice<UInt8>, mayEndInIPv4: Bool) -> [UInt16]? {
        if text.isEmpty { return [] }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (at, part) in parts.enumerated() {
            if part.contains(UInt8(ascii: ".")) {
                guard mayEndInIPv4, at == parts.count - 1, let tail = IPv4Address(String(decoding: part, as: UTF8.self))
                else { return nil }
                groups += [UInt16(truncatingIfNeeded: tail.rawValue >> 16), UInt16(truncatingIfNeeded: tail.rawValue)]
                continue
            }
            guard (1...4).contains(part.count), let group = UInt16(hexadecimal: part) else { return nil }
            groups.append(group)
        }
        return groups.count <= 8 ? groups : nil
    }

    package var description: String {
        if let mappedIPv4 { return "::ffff:\(mappedIPv4)" }
        let groups = groups
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start > best.count { best = start..<end }
            start = max(end, start + 1)
        }
        func words(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard best.count >= 2 else { return words(0..<8) }
        return words(0..<best.lowerBound) + "::" + words(best.upperBound..<8)
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// Reads hexadecimal digits only; nil when empty, too long or anything else.
    init?(hexadecimal digits: some Collection<UInt8>) {
        guard !digits.isEmpty, digits.count <= Self.bitWidth / 4 else { return nil }
        var value: Self = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | Self(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | Self(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | Self(digit - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        self = value
    }
}
