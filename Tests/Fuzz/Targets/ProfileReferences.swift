// What a profile refers to, and that all of it is there.

import JSON
import Profiles

/// The names a profile defines.
struct ProfileReferences {
    private let profile: JSON
    private var outbounds: Set<String> = []
    private var resolvers: Set<String> = []
    private var ruleSets: Set<String> = []

    init(_ profile: JSON) { self.profile = profile }

    /// Demands that tags are unique, references lead somewhere, and chains end.
    func check(_ shaped: ShapedProfile) throws(Violation) {
        var names = self
        let objects = profile["outbounds"].listed + profile["endpoints"].listed
        names.outbounds = try Self.tags(objects, "outbound")
        names.resolvers = try Self.tags(profile["dns"]["servers"].listed, "resolver")
        names.ruleSets = try Self.tags(profile["route"]["rule_set"].listed, "rule-set")
        for tag in shaped.lineTags + ["proxy", "auto", "direct"] { try names.outbound(tag, "a line") }
        try demand(!shaped.lineTags.isEmpty, "a profile without lines")
        var next: [String: [String]] = [:]
        for object in objects {
            let members = object["outbounds"].listed.map { $0.string ?? "" }
            let detour = object["detour"].string
            for tag in members + [detour, object["default"].string].compactMap({ $0 }) {
                try names.outbound(tag, object["type"].string ?? "")
            }
            next[object["tag"].string ?? ""] = members + (detour.map { [$0] } ?? [])
            try names.resolver(object["domain_resolver"])
        }
        try Self.ends(next)
        for server in profile["dns"]["servers"].listed {
            if let tag = server["detour"].string { try names.outbound(tag, "a resolver") }
            try names.resolver(server["domain_resolver"])
        }
        try names.resolver(profile["dns"]["final"])
        try names.resolver(profile["route"]["default_domain_resolver"])
        if let final = profile["route"]["final"].string { try names.outbound(final, "the last rule") }
        for rule in profile["route"]["rules"].listed + profile["dns"]["rules"].listed { try names.rule(rule) }
    }

    private static func tags(_ objects: [JSON], _ kind: String) throws(Violation) -> Set<String> {
        var tags: Set<String> = []
        for object in objects {
            guard let tag = object["tag"].string else { throw Violation("an unnamed \(kind)") }
            try demand(tags.insert(tag).inserted, "two of a name: \(kind)")
        }
        return tags
    }

    private func outbound(_ tag: String, _ place: String) throws(Violation) {
        try demand(outbounds.contains(tag), "\(place) names an outbound that is not there")
    }

    private func resolver(_ value: JSON) throws(Violation) {
        guard let tag = value.string ?? value["server"].string else { return }
        try demand(resolvers.contains(tag), "a resolver that is not there")
    }

    private func rule(_ rule: JSON) throws(Violation) {
        if let tag = rule["outbound"].string { try outbound(tag, "a rule") }
        if rule["action"].string != "hijack-dns" { try resolver(rule["server"]) }
        for set in rule["rule_set"].listed {
            try demand(set.string.map(ruleSets.contains) ?? false, "a rule-set that is not there")
        }
        for inner in rule["rules"].listed { try self.rule(inner) }
    }

    /// Demands that no group or chain leads back to itself.
    private static func ends(_ next: [String: [String]]) throws(Violation) {
        var left = next.mapValues(\.count)
        var before: [String: [String]] = [:]
        for (tag, followers) in next { for follower in followers { before[follower, default: []].append(tag) } }
        var free = left.filter { $0.value == 0 }.map(\.key)
        var done = 0
        while let tag = free.popLast() {
            done += 1
            for earlier in before[tag] ?? [] {
                left[earlier, default: 0] -= 1
                if left[earlier] == 0 { free.append(earlier) }
            }
        }
        try demand(done == next.count, "groups or chains in a circle")
    }
}
