// Putting a profile together: lines, groups, rules and resolvers, the provider's kept parts among our own.

import ImportReport
import JSON

/// Makes the profile the engine gets on descriptor 4. Pure: the same input always gives the same bytes.
package enum ProfileShaper {
    /// Shapes a profile.
    /// - Throws: `ShapingError.noLines` when not one line can run.
    package static func shape(_ input: ShapingInput) throws(ShapingError) -> ShapedProfile {
        let document = input.document?.object.map(JSON.object)
        let groups = ProviderGroups(document)
        var dns = ProviderDNS(document?["dns"] ?? .null, refused: input.refused, hasQUIC: input.hasQUIC)
        let lines = Lines(input, groups: groups, resolvers: dns.directTags)
        guard !lines.lineTags.isEmpty else { throw .noLines(lines.dropped) }

        let targets = RuleTargets(groups: groups, lines: lines, documentTags: input.documentTags)
        let sets = RuleSetTable(document: document, local: input.ruleSets, refused: input.refused)
        let conditions = RuleConditions(document: document, ruleSets: sets.available)
        let route = ProviderRoute(document, targets: targets, conditions: conditions, refused: input.refused)
        dns.resolve(targets: targets, conditions: conditions, options: input.options)
        let names = sets.available.contains(ProfileTag.domesticNames)
        let addresses = sets.available.contains(ProfileTag.domesticAddresses)

        let firstRules = OwnRouting.firstRules()
        let lastRules = OwnRouting.lastRules(names: names, addresses: addresses)
        let rules = firstRules + route.rules + lastRules
        let firstDNSRules = OwnRouting.firstDNSRules(input.options)
        let lastDNSRules = OwnRouting.lastDNSRules(input.options, names: names)
        let dnsRules = firstDNSRules + dns.rules + lastDNSRules
        let resolvers = [
            input.options.domesticResolver.server(tag: ProfileTag.directResolver),
            input.options.foreignResolver.server(tag: ProfileTag.remoteResolver, detour: ProfileTag.proxy),
        ]
        var dnsSection = dns.settings
        dnsSection["servers"] = .array(resolvers + dns.servers)
        dnsSection["rules"] = .array(dnsRules)
        dnsSection["final"] = .string(dns.final ?? ProfileTag.remoteResolver)

        var routeSection = JSONObject()
        routeSection["rules"] = .array(rules)
        let definitions = sets.definitions(usedBy: rules + dnsRules)
        if !definitions.isEmpty { routeSection["rule_set"] = .array(definitions) }
        routeSection["final"] = .string(route.final ?? ProfileTag.proxy)
        routeSection["default_domain_resolver"] = .string(ProfileTag.directResolver)

        var profile = JSONObject()
        if !input.options.authorities.isEmpty {
            profile["certificate"] = ["certificate": .strings(input.options.authorities)]
        }
        profile["dns"] = .object(dnsSection)
        let endpoints = lines.objects(endpoints: true)
        if !endpoints.isEmpty { profile["endpoints"] = .array(endpoints) }
        profile["outbounds"] = .array(
            OwnRouting.groups(lines: lines.lineTags, testURL: input.options.testURL) + lines.objects(endpoints: false)
                + [OwnRouting.directOutbound])
        profile["route"] = .object(routeSection)
        return ShapedProfile(
            profile: .object(profile), lineTags: lines.lineTags,
            changes: ProviderSections.removed(from: document) + lines.changes + route.changes + dns.changes
                + sets.changes,
            dropped: lines.dropped, removedRuleSets: sets.removed,
            origins: ProfileOrigins(
                routeRules: among(firstRules, route.origins, lastRules),
                dnsRules: among(firstDNSRules, dns.ruleOrigins, lastDNSRules),
                resolvers: among(resolvers, dns.serverOrigins, [])),
            domesticAddressesAreDirect: sets.domesticAddressesAreBundled
                && route.rules.allSatisfy(OwnRouting.goesDirect))
    }

    private static func among(_ before: [JSON], _ origins: [ProviderPart?], _ after: [JSON]) -> [ProviderPart?] {
        before.map { _ in nil } + origins + after.map { _ in nil }
    }
}
