// A network prefix, and an address with the prefix it lives in.

/// A network prefix such as `10.0.0.0/8`: an address whose host bits are zero, and a length.
package struct Prefix: Hashable, Sendable {
    /// The first address; every bit after `length` is zero.
    package let address: IPAddress
    /// The number of leading bits that count: 0 to 32 or 0 to 128.
    package let length: Int

    /// The prefix of this length around an address, host bits cleared; nil when the length does not fit the family.
    package init?(containing address: IPAddress, length: Int) {
        guard (0...address.family.bits).contains(length) else { return nil }
        self.address = address.masked(to: length)
        self.length = length
    }

    /// The prefix that holds this address alone.
    package init(host address: IPAddress) {
        self.address = address
        length = address.family.bits
    }

    /// The prefix that holds every address of a family: `0.0.0.0/0` or `::/0`.
    package static func all(_ family: AddressFamily) -> Prefix {
        Prefix(host: .unspecified(family)).shortened(to: 0)
    }

    private func shortened(to length: Int) -> Prefix { Prefix(containing: address, length: length) ?? self }

    /// The family of the prefix.
    package var family: AddressFamily { address.family }
    /// True when it holds one address only.
    package var isHost: Bool { length == family.bits }
    /// True for `0.0.0.0/0` and `::/0`.
    package var isDefault: Bool { length == 0 }

    /// True when the address lies inside.
    package func contains(_ address: IPAddress) -> Bool {
        address.family == family && address.masked(to: length) == self.address
    }

    /// True when every address of the other prefix lies inside.
    package func contains(_ other: Prefix) -> Bool { other.length >= length && contains(other.address) }

    /// True when the two share an address.
    package func overlaps(_ other: Prefix) -> Bool { contains(other) || other.contains(self) }

    /// The same set of addresses, sorted, without prefixes that lie inside another one.
    package static func minimal(_ prefixes: some Sequence<Prefix>) -> [Prefix] {
        var kept: [Prefix] = []
        for prefix in prefixes.sorted() where !(kept.last.map { $0.contains(prefix) } ?? false) { kept.append(prefix) }
        return kept
    }
}

extension Prefix: LosslessStringConvertible {
    /// Reads `address/length` or a single address; nil when host bits are set (write what you mean).
    package init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        guard parts.count > 1 else {
            self.init(host: address)
            return
        }
        guard parts.count == 2, let length = UInt8(decimal: parts[1].utf8) else { return nil }
        self.init(containing: address, length: Int(length))
        guard self.address == address else { return nil }
    }

    package var description: String { "\(address)/\(length)" }

    /// As `ip rule` and `nft` write it: a single address without its length.
    package var shortDescription: String { isHost ? address.description : description }
}

extension Prefix: Comparable {
    /// By address, then wider before narrower.
    package static func < (left: Self, right: Self) -> Bool {
        left.address == right.address ? left.length < right.length : left.address < right.address
    }
}

/// An address of an interface with the length of its network, such as `198.19.77.1/30`.
package struct InterfaceAddress: Hashable, Sendable {
    /// The address itself, host bits and all.
    package let address: IPAddress
    /// The length of the network around it.
    package let length: Int

    /// An address in a network of this length; nil when the length does not fit the family.
    package init?(_ address: IPAddress, length: Int) {
        guard (0...address.family.bits).contains(length) else { return nil }
        self.address = address
        self.length = length
    }

    /// The family of the address.
    package var family: AddressFamily { address.family }
    /// The network around the address.
    package var prefix: Prefix { Prefix(containing: address, length: length) ?? Prefix(host: address) }
}

extension InterfaceAddress: LosslessStringConvertible {
    package init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(String(parts[0])), let length = UInt8(decimal: parts[1].utf8)
        else { return nil }
        self.init(address, length: Int(length))
    }

    package var description: String { "\(address)/\(length)" }
}

extension IPAddress {
    /// The address with every bit after the first `length` cleared.
    func masked(to length: Int) -> IPAddress {
        switch self {
        case .ipv4(let address):
            return .ipv4(IPv4Address(rawValue: address.rawValue & ~(UInt32.max >> UInt32(length))))
        case .ipv6(let address):
            let high = address.high & ~(UInt64.max >> UInt64(min(length, 64)))
            let low = address.low & ~(UInt64.max >> UInt64(max(length - 64, 0)))
            return .ipv6(IPv6Address(high: high, low: low))
        }
    }
}
