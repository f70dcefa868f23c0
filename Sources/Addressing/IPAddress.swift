// An address of either family, and the family itself.

/// An IP address family.
package enum AddressFamily: Hashable, Sendable, CaseIterable, Comparable {
    case ipv4, ipv6

    /// The number of bits in an address.
    package var bits: Int { self == .ipv4 ? 32 : 128 }
}

/// An IPv4 or IPv6 address.
package enum IPAddress: Hashable, Sendable {
    case ipv4(IPv4Address)
    case ipv6(IPv6Address)

    /// The family of the address.
    package var family: AddressFamily {
        switch self {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        }
    }

    /// The bytes in network order: four or sixteen.
    package var bytes: [UInt8] {
        switch self {
        case .ipv4(let address): address.bytes
        case .ipv6(let address): address.bytes
        }
    }

    /// An address from its bytes in network order; nil unless there are four or sixteen.
    package init?(bytes: some Collection<UInt8>) {
        if let address = IPv4Address(bytes: bytes) {
            self = .ipv4(address)
        } else if let address = IPv6Address(bytes: bytes) {
            self = .ipv6(address)
        } else {
            return nil
        }
    }

    /// `0.0.0.0` or `::`.
    package static func unspecified(_ family: AddressFamily) -> IPAddress {
        switch family {
        case .ipv4: .ipv4(IPv4Address(rawValue: 0))
        case .ipv6: .ipv6(IPv6Address(high: 0, low: 0))
        }
    }
}

extension IPAddress: LosslessStringConvertible {
    package init?(_ description: String) {
        if let address = IPv4Address(description) {
            self = .ipv4(address)
        } else if let address = IPv6Address(description) {
            self = .ipv6(address)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .ipv4(let address): address.description
        case .ipv6(let address): address.description
        }
    }
}

extension IPAddress: Comparable {
    /// IPv4 before IPv6, then by number.
    package static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.ipv4(let left), .ipv4(let right)): left < right
        case (.ipv6(let left), .ipv6(let right)): left < right
        case (.ipv4, .ipv6): true
        case (.ipv6, .ipv4): false
        }
    }
}
