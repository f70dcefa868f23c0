// What shaping gives back: the profile and everything a person should know about how it came to be.

package import ImportReport
package import JSON

/// A rule-set of the provider that the profile does without.
package struct RemovedRuleSet: Hashable, Sendable {
    /// The rule-set's tag.
    package var tag: String
    /// Where it would have come from; nil for one that is no download.
    package var url: String?
    /// Why it is not used.
    package var reason: String
}

/// Where the rules and resolvers of a profile come from: for each in its order the provider's part, nil for one of ours.
package struct ProfileOrigins: Hashable, Sendable {
    /// Of `route.rules`.
    package var routeRules: [ProviderPart?]
    /// Of `dns.rules`.
    package var dnsRules: [ProviderPart?]
    /// Of `dns.servers`.
    package var resolvers: [ProviderPart?]
}

/// The profile the engine gets on descriptor 4, and the account of how it was made.
///
/// It holds `outbounds`, `endpoints`, `dns`, `route` (and `certificate` when authorities were given) and nothing else:
/// no `log`, no `experimental`, no `inbounds`. Those stand in the tunnel configuration on descriptor 3 (`EngineSettings`
/// and the worker's inbounds), which the engine reads first and whose scalars win.
package struct ShapedProfile: Sendable {
    /// What the engine runs.
    package var profile: JSON
    /// The lines in it, in the order of the subscription; a duplicate carries its new tag.
    package var lineTags: [String]
    /// What was rewritten of the provider's own.
    package var changes: [Change]
    /// Lines that cannot run.
    package var dropped: [DroppedLine]
    /// Rule-sets that were taken out, and their rules with them.
    package var removedRuleSets: [RemovedRuleSet]
    /// What of the provider's a rule or resolver was made from, to take out what the engine refuses.
    package var origins: ProfileOrigins
    /// True when in Rule mode every domestic address goes direct with no earlier rule that could say otherwise, so that
    /// the worker may route domestic prefixes around the engine.
    package var domesticAddressesAreDirect: Bool
}

/// Why no profile can be made.
package enum ShapingError: Error, Hashable, Sendable {
    /// Not one line can run; the dropped ones say why. The engine refuses a group without members.
    case noLines([DroppedLine])
}
