// What an import says it did: the value behind `import --json`, `convert --report` and the readable page.

/// Why a line of the subscription is not among the usable ones. The raw value is the code other programs rely on.
package enum DropReason: String, Sendable, CaseIterable {
    case unsupportedType = "unsupported_type"
    case unsupportedCipher = "unsupported_cipher"
    case unsupportedPlugin = "unsupported_plugin"
    case unsupportedTransport = "unsupported_transport"
    case unsupportedFeature = "unsupported_feature"
    case needsUTLS = "needs_utls"
    case needsNaive = "needs_naive"
    case needsWireGuard = "needs_wireguard"
    case needsQUIC = "needs_quic"
    case missingField = "missing_field"
    case badField = "bad_field"
    case badLink = "bad_link"
    case localFile = "local_file"
    case dialerUnresolved = "dialer_unresolved"
    case dialerCycle = "dialer_cycle"
    case dialerNoUDP = "dialer_no_udp"
    case notALine = "not_a_line"
    case notAMap = "not_a_map"
    case kernelRejected = "kernel_rejected"
}

/// What a kept line lost. The raw value is the code other programs rely on.
package enum NoticeCode: String, Sendable, CaseIterable {
    case utlsUnavailable = "utls_unavailable"
    case pinDropped = "pin_dropped"
    case verifyForced = "verify_forced"
    case udpDisabled = "udp_disabled"
    case hostKeyUnchecked = "host_key_unchecked"
    case dialerGroupFlattened = "dialer_group_flattened"
    case fieldDropped = "field_dropped"
}

/// A line of the subscription that cannot be used, and why.
package struct DroppedLine: Hashable, Sendable {
    /// The line's name.
    package var name: String
    /// The type as the source writes it; nil when there was none.
    package var type: String?
    /// Why.
    package var reason: DropReason
    /// The field at fault, when one is.
    package var field: String?
    /// More words for a person; never a secret.
    package var detail: String?

    package init(name: String, type: String?, reason: DropReason, field: String? = nil, detail: String? = nil) {
        self.name = name
        self.type = type
        self.reason = reason
        self.field = field
        self.detail = detail
    }
}

/// Something a kept line lost. `name` is nil where the notice is about the whole profile.
package struct Notice: Hashable, Sendable {
    /// The line it is about; nil for the whole.
    package var name: String?
    /// What it says.
    package var code: NoticeCode
    /// The field it is about.
    package var field: String?

    package init(name: String?, code: NoticeCode, field: String? = nil) {
        self.name = name
        self.code = code
        self.field = field
    }
}

/// One change made to the provider's configuration: a migration step, a repair, or something hostile removed.
package struct Change: Hashable, Sendable {
    /// The place, such as `dns.servers[0]`.
    package var place: String
    /// What was done, such as `address → type/server`.
    package var what: String
    /// Why, such as `migration 1.12`.
    package var reason: String

    package init(place: String, what: String, reason: String) {
        self.place = place
        self.what = what
        self.reason = reason
    }
}

/// What the engine at hand was built with, read from `sing-box version`, never assumed.
/// Source: the `Tags:` line; <https://sing-box.sagernet.org/installation/build-from-source/#build-tags>.
package struct EngineCapabilities: Hashable, Sendable {
    /// The build tags, such as `with_quic`.
    package var tags: Set<String>

    package init(tags: Set<String>) { self.tags = tags }

    /// uTLS fingerprints and REALITY (`with_utls`).
    package var utls: Bool { tags.contains("with_utls") }
    /// Hysteria, TUIC, DNS over QUIC (`with_quic`).
    package var quic: Bool { tags.contains("with_quic") }
    /// WireGuard endpoints (`with_wireguard`).
    package var wireGuard: Bool { tags.contains("with_wireguard") }
    /// NaiveProxy (`with_naive_outbound`).
    package var naive: Bool { tags.contains("with_naive_outbound") }
    /// DNS servers from DHCP (`with_dhcp`).
    package var dhcp: Bool { tags.contains("with_dhcp") }
}
