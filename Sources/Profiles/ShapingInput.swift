// What a profile is made from: lines, rule-sets on disk, the provider's own document, and a few choices.

package import JSON

/// A rule-set file on this machine.
/// Source: <https://sing-box.sagernet.org/configuration/rule-set/>.
package struct LocalRuleSet: Hashable, Sendable {
    /// How the file is written.
    package enum Format: String, Sendable {
        case binary, source
    }

    /// The tag rules name it by.
    package var tag: String
    /// The file, as the engine will see it.
    package var path: String
    /// How the file is written.
    package var format: Format
    /// True for a set that comes with the product, and not from a provider.
    package var isBundled: Bool

    package init(tag: String, path: String, format: Format = .binary, isBundled: Bool = false) {
        self.tag = tag
        self.path = path
        self.format = format
        self.isBundled = isBundled
    }
}

/// One DNS server.
/// Source: <https://sing-box.sagernet.org/configuration/dns/server/>.
package struct Resolver: Hashable, Sendable {
    /// The transport; the raw value is the engine's name for it.
    package enum Transport: String, Sendable {
        case udp, tcp, tls, https
    }

    /// How it is asked.
    package var transport: Transport
    /// An IP address: a name would need another resolver first.
    package var address: String
    /// nil: the transport's usual port.
    package var port: Int?
    /// The name in the server's certificate; nil for the address itself. Only for `tls` and `https`.
    package var serverName: String?

    package init(_ transport: Transport, _ address: String, port: Int? = nil, serverName: String? = nil) {
        self.transport = transport
        self.address = address
        self.port = port
        self.serverName = serverName
    }

    /// AliDNS over HTTPS.
    package static let domestic = Resolver(.https, "223.5.5.5", serverName: "dns.alidns.com")
    /// Cloudflare over HTTPS.
    package static let foreign = Resolver(.https, "1.1.1.1", serverName: "cloudflare-dns.com")

    /// The server object.
    /// - Parameter detour: the outbound to dial through; nil dials directly. An option-less direct outbound must not be
    ///   named here: the engine starts with `detour to an empty direct outbound makes no sense` and dies.
    func server(tag: String, detour: String? = nil) -> JSON {
        var server: JSON = ["type": .string(transport.rawValue), "tag": .string(tag), "server": .string(address)]
        if let port { server["server_port"] = .int(port) }
        if let serverName, transport == .tls || transport == .https {
            server["tls"] = ["enabled": true, "server_name": .string(serverName)]
        }
        if let detour { server["detour"] = .string(detour) }
        return server
    }
}

/// Choices that do not come from the provider.
package struct ShapingOptions: Hashable, Sendable {
    /// What is answered when an application asks for the IPv6 address of a name that goes through the line.
    package enum ForeignIPv6: Sendable {
        /// "No such address", at once. A line cannot be asked whether it has IPv6; the redirect inbound accepts the
        /// connection before the line refuses it, so a dual-stack application would take IPv6 for working and hang or fail
        /// instead of trying IPv4. IPv6 addresses used literally still go through the line.
        case answeredEmpty
        /// The real address.
        case resolved
    }

    /// For domestic names and the names of the lines' servers, asked over the physical link.
    package var domesticResolver = Resolver.domestic
    /// For every other name, asked through the line.
    package var foreignResolver = Resolver.foreign
    /// How AAAA questions for names behind the line are answered.
    package var foreignIPv6 = ForeignIPv6.answeredEmpty
    /// The address `auto` measures with. The engine honours https only and silently takes another one for http.
    package var testURL = "https://www.gstatic.com/generate_204"
    /// PEM texts of further authorities to trust, beside the system's.
    package var authorities: [String] = []

    package init() {}
}

/// A part of a provider's document that can be left out by itself.
package enum ProviderPart: Hashable, Sendable {
    /// `route.rules[…]`
    case routeRule(Int)
    /// `inbounds[…].route_exclude_address`
    case excludedAddresses(Int)
    /// `dns.rules[…]`
    case dnsRule(Int)
    /// `dns.servers[…]`
    case resolver(Int)
    /// A member of `dns`, such as `strategy`.
    case dnsSetting(String)
    /// A rule-set by its tag.
    case ruleSet(String)
}

/// Everything the shaper reads.
package struct ShapingInput: Sendable {
    /// The lines' objects and their helpers (such as `x#stls`), already in the engine's 1.14 form, tags unique.
    package var outbounds: [JSON]
    /// The lines that are endpoints (WireGuard).
    package var endpoints: [JSON]
    /// The tags of the lines, in the order of the subscription. What is in the two lists above and not here is a helper.
    package var lineTags: [String]
    /// The provider's sing-box document after migration; nil for every other format.
    package var document: JSON?
    /// For lines whose tag is not the one the document uses: the document's tag to the line's.
    package var documentTags: [String: String] = [:]
    /// The rule-sets on this machine: the bundled ones and those downloaded for the document. Of two with one tag the later
    /// one is used, so put the bundled ones first.
    package var ruleSets: [LocalRuleSet]
    /// Parts of the document to leave out and report, each with why.
    package var refused: [ProviderPart: String] = [:]
    /// Whether the engine can ask resolvers over QUIC (`with_quic`).
    package var hasQUIC = true
    /// Choices of the product.
    package var options: ShapingOptions

    package init(
        outbounds: [JSON], endpoints: [JSON] = [], lineTags: [String], document: JSON? = nil,
        ruleSets: [LocalRuleSet] = [], options: ShapingOptions = ShapingOptions()
    ) {
        self.outbounds = outbounds
        self.endpoints = endpoints
        self.lineTags = lineTags
        self.document = document
        self.ruleSets = ruleSets
        self.options = options
    }
}
