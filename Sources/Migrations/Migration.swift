// What a migration is, what it may know, and the list of them all in the order they work.

package import ImportReport
package import JSON

/// What a migration may know beside the document.
package struct MigrationContext: Sendable {
    /// What the engine at hand was built with.
    package var capabilities: EngineCapabilities
    /// Whether a rule-set holds addresses, where that is known for certain (from the file itself). Without an answer its
    /// name decides.
    package var holdsAddresses: [String: Bool]
    /// The engine's own schema; without it unknown fields stay.
    package var schema: EngineSchema?

    package init(
        capabilities: EngineCapabilities, holdsAddresses: [String: Bool] = [:], schema: EngineSchema? = nil
    ) {
        self.capabilities = capabilities
        self.holdsAddresses = holdsAddresses
        self.schema = schema
    }
}

/// One change of the engine's configuration language, undone for older documents.
///
/// Closed: once released it is not edited, a later change of the language is a later migration. Idempotent: a document in
/// the new form passes through untouched and reports nothing. Total: whatever stands in the document, of whatever type,
/// it never traps; what it does not understand it leaves.
package protocol Migration: Sendable {
    /// A short English name, unique.
    var name: String { get }
    /// The engine version that brought the new form, such as `1.12`.
    var since: String { get }
    /// Rewrites the document and says what was done.
    func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change]
}

extension Migration {
    /// The reason written into every change.
    var reason: String { "migration \(since)" }

    func change(_ place: String, _ what: String) -> Change { Change(place: place, what: what, reason: reason) }
}

/// All migrations.
package enum Migrations {
    /// From 1.8 to 1.14, in the order that works: what later ones look up (the default outbound, the resolvers' own
    /// strategies) is still there when they do.
    package static let all: [any Migration] = [
        InboundRules(), TunAddresses(), TunLeftovers(), InboundACME(), RemovedProxyFeatures(),
        DNSOutbounds(), WireGuardOutbounds(), DirectOverrides(), LegacyECH(), HysteriaWindows(),
        ClashAPIStore(), CacheStoreRDRC(),
        GeoDatabases(), SourceMatchName(), AndroidOnly(),
        DNSServers(), DNSOutboundItems(), DNSRcodes(), DefaultResolver(), DNSStrategies(), DNSClientSubnets(),
        DNSIndependentCache(), DNSAddressFilters(),
        DomainStrategies(), EmptyDirectDetours(), RuleSetDownloads(), UnknownFields(),
    ]

    /// Brings a document of any version from 1.8 on to the 1.14 form.
    /// - Returns: what was done, in order; empty when nothing was.
    package static func run(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        for migration in all { changes.append(contentsOf: migration.apply(&document, context)) }
        return changes
    }
}
