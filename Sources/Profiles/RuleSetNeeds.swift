// Which rule-sets a provider's document would download.

package import JSON

/// One rule-set that has to be fetched before a profile can use it.
package struct RuleSetNeed: Hashable, Sendable {
    /// The tag the document's rules name it by.
    package var tag: String
    /// Where it is fetched.
    package var url: String
    /// How it is written.
    package var format: LocalRuleSet.Format
}

extension RuleSetNeed {
    /// The remote rule-sets of a migrated document, first of each tag, in order. Only those that some rule names: the rest
    /// would be fetched for nothing. Without a `format` the engine goes by the end of the address.
    package static func list(_ document: JSON) -> [RuleSetNeed] {
        var used: Set<String> = []
        collect(document["route"]["rules"], into: &used)
        collect(document["dns"]["rules"], into: &used)
        var seen: Set<String> = []
        var needs: [RuleSetNeed] = []
        for definition in document["route"]["rule_set"].listed where definition["type"].string == "remote" {
            guard let tag = definition["tag"].string, let url = definition["url"].string, !url.isEmpty,
                used.contains(tag), seen.insert(tag).inserted
            else { continue }
            needs.append(RuleSetNeed(tag: tag, url: url, format: format(definition["format"].string, url: url)))
        }
        return needs
    }

    private static func format(_ named: String?, url: String) -> LocalRuleSet.Format {
        if let named, let format = LocalRuleSet.Format(rawValue: named) { return format }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        return path.hasSuffix(".json") ? .source : .binary
    }

    private static func collect(_ rules: JSON, into used: inout Set<String>) {
        for rule in rules.listed {
            for tag in rule["rule_set"].listed { if let tag = tag.string { used.insert(tag) } }
            collect(rule["rules"], into: &used)
        }
    }
}
