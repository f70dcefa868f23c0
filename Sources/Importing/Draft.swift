// A subscription on its way into a profile: read, migrated, tags made fit, merged, and shaped as often as need be.

package import ImportReport
import JSON
package import Migrations
package import Profiles
import RuleSets
package import Subscriptions

/// One body, read.
package struct ReadBody {
    /// What the body holds; of a sing-box document: migrated and fitted.
    package var subscription: Subscription
    /// What migration did to a sing-box document.
    package var changes: [Change] = []
    /// A document's tags that had to change: old to new.
    package var documentTags: [String: String] = [:]

    /// Reads a body; a sing-box document is migrated and fitted to the engine.
    /// - Parameter schema: the engine's, asked for only when there is a document.
    package init(
        _ bytes: [UInt8], capabilities: EngineCapabilities, providers: [String: [UInt8]] = [:],
        schema: () -> EngineSchema?
    ) throws(SubscriptionError) {
        subscription = try SubscriptionReader.read(bytes, capabilities: capabilities, providerBodies: providers)
        guard subscription.format == .singBox, var document = subscription.document else { return }
        let order = Self.order(document)
        changes = Migrations.run(&document, MigrationContext(capabilities: capabilities, schema: schema()))
        subscription.document = document
        let fitted = CapabilityFilter.apply(
            outbounds: document["outbounds"].array ?? [], endpoints: document["endpoints"].array ?? [],
            capabilities: capabilities)
        let named = UniqueTags(outbounds: fitted.outbounds, endpoints: fitted.endpoints)
        let found = SingBoxLines.from(outbounds: named.outbounds, endpoints: named.endpoints)
        documentTags = named.documentTags
        changes += named.changes
        subscription.outbounds = named.outbounds.filter { !found.infoTags.contains($0["tag"].string ?? "") }
        subscription.endpoints = named.endpoints.filter { !found.infoTags.contains($0["tag"].string ?? "") }
        // A WireGuard outbound has become an endpoint; its line stays where the provider put it.
        subscription.lines = found.lines.enumerated().sorted { left, right in
            let places = [left, right].map { order[named.oldTags[$0.element.tag] ?? $0.element.tag] ?? Int.max }
            return places[0] == places[1] ? left.offset < right.offset : places[0] < places[1]
        }.map(\.element)
        subscription.info = found.info
        subscription.dropped += fitted.dropped
        subscription.notices += fitted.notices
    }

    /// Where each tag first stands in a document.
    private static func order(_ document: JSON) -> [String: Int] {
        var order: [String: Int] = [:]
        for (place, object) in (document["outbounds"].listed + document["endpoints"].listed).enumerated() {
            if let tag = object["tag"].string, order[tag] == nil { order[tag] = place }
        }
        return order
    }
}

/// A sing-box document's lines and helpers, without its groups, under tags that are unique and not Trocket's own.
private struct UniqueTags {
    var outbounds: [JSON] = []
    var endpoints: [JSON] = []
    /// The document's tags that now mean another one.
    var documentTags: [String: String] = [:]
    /// Every changed tag: new to old.
    var oldTags: [String: String] = [:]
    var changes: [Change] = []

    /// What routes and is no line; the shaper reads it from the document itself.
    private static let groups: Set<String> = [
        "selector", "urltest", "direct", "block", "dns", "bond", "fallback", "loadbalance",
    ]

    init(outbounds: [JSON], endpoints: [JSON]) {
        var used = ProfileTag.reserved
        let all = outbounds + endpoints
        for object in all { if let tag = object["tag"].string { used.insert(tag) } }
        var seen = ProfileTag.reserved
        func fit(_ object: JSON, _ place: String) -> JSON {
            guard let tag = object["tag"].string, !seen.insert(tag).inserted else { return object }
            var number = 2
            while used.contains("\(tag) #\(number)") { number += 1 }
            let new = "\(tag) #\(number)"
            used.insert(new)
            oldTags[new] = tag
            if ProfileTag.reserved.contains(tag), documentTags[tag] == nil { documentTags[tag] = new }
            changes.append(Change(place: "\(place).tag", what: "renamed to \(new)", reason: "the tag is taken"))
            var object = object
            object["tag"] = .string(new)
            return object
        }
        for (at, object) in outbounds.enumerated() where !Self.groups.contains(object["type"].string ?? "") {
            self.outbounds.append(fit(object, "outbounds[\(at)]"))
        }
        for (at, object) in endpoints.enumerated() { self.endpoints.append(fit(object, "endpoints[\(at)]")) }
    }
}

/// What the gate works on: everything the shaper takes, and what was taken out because the engine refused it.
package struct Draft {
    var subscription: Subscription
    var documentTags: [String: String]
    var ruleSets: [LocalRuleSet]
    var options: ShapingOptions
    /// Whether the engine was built with QUIC.
    private let hasQUIC: Bool
    /// Parts of the provider's document the engine refuses, and why.
    private var refused: [ProviderPart: String] = [:]
    /// The provider's document; nil once its routing had to go.
    var document: JSON?
    private(set) var rejected: [DroppedLine] = []
    private(set) var rejectedRuleSets: [RuleSetReport] = []
    private(set) var changes: [Change] = []

    package init(
        _ subscription: Subscription, documentTags: [String: String], ruleSets: [LocalRuleSet], options: ShapingOptions,
        hasQUIC: Bool = true
    ) {
        self.hasQUIC = hasQUIC
        self.subscription = subscription
        self.documentTags = documentTags
        self.ruleSets = ruleSets
        self.options = options
        document = subscription.document
    }

    /// Where the rule-sets are.
    var ruleSetDirectories: [String] {
        Set(ruleSets.map { $0.path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } }).sorted()
    }

    /// Shapes what is there now.
    package func shape() throws(ShapingError) -> ShapedProfile {
        var input = ShapingInput(
            outbounds: subscription.outbounds, endpoints: subscription.endpoints,
            lineTags: subscription.lines.map(\.tag), document: document, ruleSets: ruleSets, options: options)
        input.documentTags = documentTags
        input.refused = refused
        input.hasQUIC = hasQUIC
        return try ProfileShaper.shape(input)
    }

    /// Takes out what the engine refuses in a shaped profile.
    /// - Returns: false when there is nothing left to take out.
    mutating func remove(_ complaint: KernelComplaint, _ words: String, from shaped: ShapedProfile) -> Bool {
        let profile = shaped.profile
        switch complaint {
        case .outbound(let at): return drop(tag(profile["outbounds"], at), words)
        case .endpoint(let at): return drop(tag(profile["endpoints"], at), words)
        case .tag(let tag): return drop(tag, words)
        case .ruleSet(let at):
            guard let tag = tag(profile["route"]["rule_set"], at) else { break }
            if refuse(.ruleSet(tag), words, isInline(tag)) { return true }
            let before = ruleSets.count
            ruleSets.removeAll { $0.tag == tag }
            if ruleSets.count < before {
                rejectedRuleSets.append(
                    RuleSetReport(tag: tag, status: .removed, reason: "the engine refuses it: \(words)"))
                return true
            }
        case .routeRule(let at): if refuse(Self.item(shaped.origins.routeRules, at), words) { return true }
        case .dnsRule(let at): if refuse(Self.item(shaped.origins.dnsRules, at), words) { return true }
        case .resolver(let at): if refuse(Self.item(shaped.origins.resolvers, at), words) { return true }
        case .dnsSetting(let name):
            if refuse(.dnsSetting(name), words, !profile["dns"][name].isNull) { return true }
        case .other: break
        }
        return removeRouting(words, from: profile)
    }

    /// Gives up the provider's own rules and resolvers.
    /// - Returns: false when there are none left.
    mutating func removeRouting(_ words: String, from profile: JSON) -> Bool {
        guard document != nil else { return false }
        document = nil
        refused = [:]
        changes.append(
            Change(
                place: "route, dns", what: "the provider's own rules are not used",
                reason: "the engine refuses them: \(Scrubber.scrub(words, of: profile["dns"]["servers"]))"))
        return true
    }

    /// Notes that a part of the document is to be left out.
    /// - Returns: false when it is none, or left out already.
    private mutating func refuse(_ part: ProviderPart?, _ words: String, _ isThere: Bool = true) -> Bool {
        guard let part, isThere, let document, refused[part] == nil else { return false }
        let servers: JSON = .array(document["dns"]["servers"].listed)
        refused[part] = "the engine refuses it: \(Scrubber.scrub(words, of: servers))"
        return true
    }

    private func isInline(_ tag: String) -> Bool {
        document?["route"]["rule_set"].listed.contains {
            $0["tag"].string == tag && ["inline", "", nil].contains($0["type"].string)
        } ?? false
    }

    private static func item(_ parts: [ProviderPart?], _ at: Int) -> ProviderPart? {
        parts.indices.contains(at) ? parts[at] : nil
    }

    private func tag(_ list: JSON, _ at: Int) -> String? {
        guard let items = list.array, items.indices.contains(at) else { return nil }
        return items[at]["tag"].string
    }

    /// Drops an object. A helper's line goes with it as refused; lines that dial through it can then not be resolved, which
    /// the shaper finds.
    @discardableResult
    mutating func drop(_ tag: String?, _ words: String) -> Bool {
        guard let tag else { return false }
        let objects = subscription.outbounds + subscription.endpoints
        guard let object = objects.first(where: { $0["tag"].string == tag }) else { return false }
        var gone: Set<String> = [tag]
        let isLine = subscription.lines.contains { $0.tag == tag }
        if !isLine {
            for other in objects where other["detour"].string == tag { gone.insert(other["tag"].string ?? "") }
        }
        let detail = Scrubber.scrub(words, of: object)
        for line in subscription.lines where gone.contains(line.tag) {
            rejected.append(DroppedLine(name: line.name, type: line.type, reason: .kernelRejected, detail: detail))
        }
        subscription.outbounds.removeAll { gone.contains($0["tag"].string ?? "") }
        subscription.endpoints.removeAll { gone.contains($0["tag"].string ?? "") }
        subscription.lines.removeAll { gone.contains($0.tag) }
        return true
    }
}
