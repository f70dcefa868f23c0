// Names and numbers of network objects: distinct types, so that a table is never passed where a mark is meant.

/// The name of a network interface: 1 to 15 bytes, no slash, no space, no colon, neither `.` nor `..` (the kernel's
/// `dev_valid_name`). Only printable ASCII is accepted, so that a name can be shown and put into a rule set as it is.
package struct InterfaceName: Hashable, Sendable, LosslessStringConvertible, Comparable {
    package let description: String

    package init?(_ description: String) {
        let bytes = Array(description.utf8)
        guard (1...15).contains(bytes.count), description != ".", description != ".." else { return nil }
        let refused = [UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "\\")]
        guard bytes.allSatisfy({ (0x21...0x7e).contains($0) && !refused.contains($0) }) else { return nil }
        self.description = description
    }

    package static func < (left: Self, right: Self) -> Bool { left.description < right.description }

    /// The loopback interface.
    package static let loopback = InterfaceName(trusted: "lo")

    /// A name written in this program's own source.
    package init(trusted name: StaticString) { description = "\(name)" }
}

/// The index of a network interface in one network namespace.
package struct InterfaceIndex: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package var description: String { String(rawValue) }
}

/// A 48-bit hardware address.
package struct MACAddress: Hashable, Sendable, LosslessStringConvertible {
    /// The six bytes in the order they are sent.
    package let bytes: [UInt8]

    /// An address from its six bytes; nil for any other count.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 6 else { return nil }
        self.bytes = Array(bytes)
    }

    package init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.count == 2 ? UInt8(hexadecimal: $0.utf8) : nil }
        guard bytes.count == parts.count else { return nil }
        self.init(bytes: bytes)
    }

    package var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}

/// The number of a routing table. Numbers above 255 travel in an attribute (rtnetlink(7)).
package struct RouteTable: RawRepresentable, Hashable, Sendable, CustomStringConvertible, Comparable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The host's own table.
    package static let main = RouteTable(rawValue: 254)
    /// The table the kernel keeps for the host's own addresses.
    package static let local = RouteTable(rawValue: 255)
    /// The table looked at last, usually empty.
    package static let `default` = RouteTable(rawValue: 253)

    /// The number, or the name `ip` has for it.
    package var description: String {
        switch self {
        case .main: "main"
        case .local: "local"
        case .default: "default"
        default: String(rawValue)
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The priority of a routing rule; the lowest is looked at first.
package struct RulePriority: RawRepresentable, Hashable, Sendable, CustomStringConvertible, Comparable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package var description: String { String(rawValue) }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A packet mark.
package struct FirewallMark: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// As `ip rule` writes it: `0x1`.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}

/// A TCP or UDP port.
package struct Port: RawRepresentable, Hashable, Sendable, CustomStringConvertible, Comparable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    package var description: String { String(rawValue) }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The domain name system.
    package static let dns = Port(rawValue: 53)
    /// DNS over TLS.
    package static let dnsOverTLS = Port(rawValue: 853)
    /// HTTPS.
    package static let https = Port(rawValue: 443)
}

/// The number of a user of the system.
package struct UserID: RawRepresentable, Hashable, Sendable, CustomStringConvertible, Comparable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package var description: String { String(rawValue) }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A range of users, both ends included.
package struct UserIDRange: Hashable, Sendable, CustomStringConvertible {
    /// The lowest user of the range.
    package let first: UserID
    /// The highest user of the range, itself included.
    package let last: UserID

    /// One user.
    package init(_ user: UserID) { (first, last) = (user, user) }

    /// Users from `first` to `last`; nil when they are the wrong way round.
    package init?(first: UserID, last: UserID) {
        guard first <= last else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// As `ip rule` writes it: `1000-1000`.
    package var description: String { "\(first)-\(last)" }
}
