// What a subscription holds once it has been read: lines, the engine objects behind them, and what became of the rest.

package import ImportReport
package import JSON

/// The dialect a subscription was written in.
package enum SubscriptionFormat: String, Sendable {
    case singBox = "sing-box"
    case clash
    case links
    case sip008
}

/// One line a user can pick.
package struct Line: Hashable, Sendable {
    /// The cleaned name, as people see it.
    package var name: String
    /// The unique tag of the engine object.
    package var tag: String
    /// The type as the source names it, such as `ss`, `vless` or `socks5`.
    package var type: String
    /// Host name or address.
    package var server: String
    /// The port; the first one where the line hops between several, nil where there is none.
    package var port: Int?
    /// What the name says a byte counts for; nil when the name does not say.
    package var multiplier: Double?
    /// A short stable name of this line that survives renaming and reordering and tells nothing about its secrets. See
    /// `LineIdentity`.
    package var identity: String

    package init(
        name: String, tag: String, type: String, server: String, port: Int?, multiplier: Double?, identity: String
    ) {
        self.name = name
        self.tag = tag
        self.type = type
        self.server = server
        self.port = port
        self.multiplier = multiplier
        self.identity = identity
    }
}

/// A list of lines that stands elsewhere and is still to be fetched (`proxy-providers` of type `http`).
package struct ProviderRequest: Hashable, Sendable {
    /// The provider's name in the profile; hand the body back under it.
    package var name: String
    /// The address; as secret as the subscription's own link.
    package var url: String

    package init(name: String, url: String) {
        self.name = name
        self.url = url
    }
}

/// A subscription, read.
package struct Subscription: Sendable {
    /// What the body was.
    package var format: SubscriptionFormat
    /// Engine outbounds in the order of the profile; a helper (`<tag>#stls`) follows its owner. Of a sing-box
    /// configuration: its own outbounds as they stand, not migrated.
    package var outbounds: [JSON] = []
    /// Engine endpoints (WireGuard).
    package var endpoints: [JSON] = []
    /// What the user can pick, in the order of the profile.
    package var lines: [Line] = []
    /// Texts of pseudo-lines: quota, expiry, addresses.
    package var info: [String] = []
    /// Lines that cannot be used.
    package var dropped: [DroppedLine] = []
    /// What kept lines lost.
    package var notices: [Notice] = []
    /// Lists still to be fetched; read again with their bodies.
    package var providers: [ProviderRequest] = []
    /// How many proxy groups of the profile are not used.
    package var unusedGroups = 0
    /// How many rules of the profile are not used.
    package var unusedRules = 0
    /// The whole sing-box configuration when that is what came.
    package var document: JSON?

    package init(format: SubscriptionFormat) { self.format = format }

    /// Refuses a subscription that leaves nothing to pick.
    /// - Throws: `SubscriptionError` with the code `no-lines` and the texts the provider sent instead.
    package func requireLines() throws(SubscriptionError) {
        guard lines.isEmpty else { return }
        let why: String
        if !providers.isEmpty {
            let names = providers.map(\.name).joined(separator: ", ")
            why = "its lines stand behind proxy-providers that were not fetched: \(names)"
        } else if !dropped.isEmpty {
            why = "none of its \(dropped.count) lines can be used by this engine"
        } else if !info.isEmpty {
            why = "it holds only notes, which often means an expired account or used-up traffic"
        } else {
            why = "it holds no lines"
        }
        throw SubscriptionError(.noLines, "The subscription was read, but \(why).", texts: info)
    }
}
