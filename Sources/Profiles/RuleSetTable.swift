// The rule-sets a profile may name: files on this machine and the provider's inline ones. Nothing remote remains.

import ImportReport
import JSON

/// Every rule-set that can be had, by tag.
struct RuleSetTable {
    private var local: [String: LocalRuleSet] = [:]
    private var inline: [String: JSON] = [:]
    /// The tags rules may name.
    private(set) var available: Set<String> = []
    private(set) var removed: [RemovedRuleSet] = []
    private(set) var changes: [Change] = []

    /// Whether domestic addresses are what the product says they are: a provider's set of that name is another list.
    var domesticAddressesAreBundled: Bool { local[ProfileTag.domesticAddresses]?.isBundled == true }

    init(document: JSON?, local sets: [LocalRuleSet], refused: [ProviderPart: String] = [:]) {
        for set in sets { local[set.tag] = set }
        available = Set(local.keys)
        guard let document else { return }
        for (at, definition) in document["route"]["rule_set"].listed.enumerated() {
            let place = "route.rule_set[\(at)]"
            if let tag = definition["tag"].string, let why = refused[.ruleSet(tag)] {
                forget(tag, nil, why, place)
            } else {
                take(definition, place: place)
            }
        }
    }

    private mutating func take(_ definition: JSON, place: String) {
        guard let tag = definition["tag"].string, !tag.isEmpty else {
            changes.append(Change(place: place, what: "removed", reason: "a rule-set without a tag"))
            return
        }
        let type = definition["type"].string ?? ""
        if local[tag] != nil {
            if type != "local" {
                changes.append(Change(place: place, what: "→ local file", reason: "a start never downloads"))
            }
            return
        }
        if type.isEmpty || type == "inline" {
            guard case .array(let rules) = definition["rules"], !rules.isEmpty, inline[tag] == nil else {
                forget(tag, nil, "an inline rule-set without rules is refused", place)
                return
            }
            let kept = rules.enumerated().compactMap { usable($1, place: "\(place).rules[\($0)]") }
            guard !kept.isEmpty else { return forget(tag, nil, "no rule of it can be used", place) }
            inline[tag] = ["type": "inline", "tag": .string(tag), "rules": .array(kept)]
            available.insert(tag)
        } else if type == "remote" {
            forget(tag, definition["url"].string, "not downloaded", place)
        } else {
            forget(tag, nil, "opens a file of this machine", place)
        }
    }

    /// A rule of an inline set without expressions the engine cannot compile; nil when it must go.
    private mutating func usable(_ rule: JSON, place: String) -> JSON? {
        guard var object = rule.object else { return nil }
        if object["type"] == "logical" {
            let parts = object["rules"]?.listed ?? []
            let kept = parts.enumerated().compactMap { usable($1, place: "\(place).rules[\($0)]") }
            if kept.isEmpty || (kept.count < parts.count && (object["mode"] == "and" || object["invert"] == true)) {
                return nil
            }
            object["rules"] = .array(kept)
            return .object(object)
        }
        var lostSome = false
        for key in Expressions.names {
            guard let kept = Expressions.usable(object[key], of: key) else { continue }
            lostSome = true
            changes.append(
                Change(
                    place: "\(place).\(key)", what: "item removed", reason: "the engine refuses this name or expression"
                ))
            object[key] = kept.isEmpty ? Optional.none : JSON.array(kept)
        }
        guard RuleConditions.hasConditions(.object(object)) else { return nil }
        guard lostSome else { return rule }
        let isLeft = (Expressions.names + ["ip_cidr"]).contains { object[$0].map(RuleConditions.isSet) ?? false }
        return isLeft && object["invert"] != true ? .object(object) : nil
    }

    private mutating func forget(_ tag: String, _ url: String?, _ reason: String, _ place: String) {
        removed.append(RemovedRuleSet(tag: tag, url: url, reason: reason))
        changes.append(Change(place: place, what: "removed with the rules that name only it", reason: reason))
    }

    /// The definitions of those sets that the rules name, in a fixed order.
    func definitions(usedBy rules: [JSON]) -> [JSON] {
        var used: Set<String> = []
        for rule in rules { Self.collect(rule, into: &used) }
        return used.sorted().compactMap { tag in
            if let file = local[tag] {
                return [
                    "type": "local", "tag": .string(tag), "format": .string(file.format.rawValue),
                    "path": .string(file.path),
                ]
            }
            return inline[tag]
        }
    }

    private static func collect(_ rule: JSON, into used: inout Set<String>) {
        for tag in rule["rule_set"].listed { if let tag = tag.string { used.insert(tag) } }
        for inner in rule["rules"].listed { collect(inner, into: &used) }
    }
}
