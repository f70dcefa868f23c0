// Which conditions of a provider's rule can hold inside the tunnel, and what is left of the rule.

import JSON

/// Reads the conditions of route and DNS rules, nested ones included.
struct RuleConditions {
    /// What becomes of a rule.
    enum Verdict {
        /// It stands, perhaps with fewer conditions.
        case kept(JSON)
        /// It could never match: it goes.
        case impossible(String)
        /// Its meaning would turn round (an inverted rule that lost a part): it goes, and whatever it is part of.
        case unsound(String)
    }

    private let ruleSets: Set<String>
    private let tunInbounds: Set<String>

    /// What the engine cannot know about traffic that comes out of the sandbox.
    private static let unknowable: Set<String> = [
        "auth_user", "process_name", "process_path", "process_path_regex", "package_name", "package_name_regex", "user",
        "user_id", "network_type", "network_is_expensive", "network_is_constrained", "wifi_ssid", "wifi_bssid",
        "interface_address", "network_interface_address", "default_interface_address", "source_mac_address",
        "source_hostname", "preferred_by",
    ]

    init(document: JSON?, ruleSets: Set<String>) {
        self.ruleSets = ruleSets
        var tuns: Set<String> = []
        for inbound in document?["inbounds"].listed ?? [] where inbound["type"].string == "tun" {
            if let tag = inbound["tag"].string { tuns.insert(tag) }
        }
        tunInbounds = tuns
    }

    /// Judges one rule; `rule` is an object, its action is not looked at.
    func judge(_ rule: JSONObject) -> Verdict {
        let type = rule["type"] ?? .null
        if type == "logical" { return judgeLogical(rule) }
        guard !Self.isSet(type) || type == "default", rule["rules"] == nil else { return .unsound("of no known type") }
        var kept = rule
        let inverted = rule["invert"]?.bool ?? false
        func lost(_ why: String) -> Verdict { inverted ? .unsound(why) : .impossible(why) }
        for member in rule.members where Self.unknowable.contains(member.key) && Self.isSet(member.value) {
            return lost("\(member.key) cannot be known inside the tunnel")
        }
        kept.removeAll { Self.unknowable.contains($0.key) }
        if let mode = rule["clash_mode"], Self.isSet(mode) {
            guard mode.string?.lowercased() == RoutingMode.rule.rawValue.lowercased() else {
                return lost("the modes are Rule and Global, set by Trocket")
            }
            if inverted { return .unsound("the modes are Rule and Global, set by Trocket") }
            kept.removeValue(forKey: "clash_mode")
        }
        if let inbound = rule["inbound"], Self.isSet(inbound) {
            guard inbound.listed.contains(where: { tunInbounds.contains($0.string ?? "") }) else {
                return lost("its inbound does not exist")
            }
            if inverted { return .unsound("its inbound is replaced") }
            kept.removeValue(forKey: "inbound")
        }
        if let why = keepUsable(&kept, inverted: inverted) { return lost(why) }
        return .kept(.object(kept))
    }

    /// The conditions of which one is enough.
    private static let destinations = [
        "domain", "domain_suffix", "domain_keyword", "domain_regex", "ip_cidr", "ip_is_private", "rule_set",
    ]

    /// Takes out rule-sets that cannot be had and expressions that cannot be compiled.
    /// - Returns: why the rule goes: nothing of its destination is left, or its meaning would turn.
    private func keepUsable(_ rule: inout JSONObject, inverted: Bool) -> String? {
        var why: String?
        if let sets = rule["rule_set"], !sets.isNull, sets != [] {
            let had = sets.listed.filter { ruleSets.contains($0.string ?? "") }
            if had.count < sets.listed.count {
                why = "names a rule-set that cannot be had"
                rule["rule_set"] = had.isEmpty ? Optional.none : JSON.array(had)
            }
        }
        for key in Expressions.names {
            guard let kept = Expressions.usable(rule[key], of: key) else { continue }
            why = "has a name or expression the engine refuses"
            rule[key] = kept.isEmpty ? Optional.none : JSON.array(kept)
        }
        guard let why else { return nil }
        let isLeft = Self.destinations.contains { rule[$0].map(Self.isSet) ?? false }
        return isLeft && !inverted ? nil : why
    }

    private func judgeLogical(_ rule: JSONObject) -> Verdict {
        guard let mode = rule["mode"]?.string, mode == "and" || mode == "or" else { return .unsound("no mode") }
        guard rule["rule_set"] == nil, rule["clash_mode"] == nil, rule["inbound"] == nil else {
            return .unsound("both parts and conditions")
        }
        var inner: [JSON] = []
        var why = "has no parts"
        var lostSome = false
        for part in rule["rules"]?.listed ?? [] {
            guard var object = part.object else { return .unsound("a part is no rule") }
            // Older engines passed over what a part wanted done; 1.14 refuses it.
            object.removeAll { Self.actions.contains($0.key) }
            switch judge(object) {
            case .kept(let kept):
                if Self.hasConditions(kept) {
                    inner.append(kept)
                } else if mode == "or" || !Self.hasConditions(part) {
                    // Always true, and the engine refuses a part without conditions.
                    return .unsound("a part has no conditions")
                }
            case .unsound(let reason): return .unsound(reason)
            case .impossible(let reason):
                if mode == "and" { return rule["invert"]?.bool == true ? .unsound(reason) : .impossible(reason) }
                why = reason
                lostSome = true
            }
        }
        let inverted = rule["invert"]?.bool ?? false
        if inverted, lostSome { return .unsound(why) }
        if inner.isEmpty { return .impossible(why) }
        var kept = rule
        kept["rules"] = .array(inner)
        return .kept(.object(kept))
    }

    /// What says what to do with traffic, not which. Sources: <https://sing-box.sagernet.org/configuration/route/rule_action/>
    /// and <https://sing-box.sagernet.org/configuration/dns/rule_action/>.
    private static let actions: Set<String> = [
        "action", "outbound", "override_address", "override_port", "network_strategy", "fallback_delay",
        "udp_disable_domain_unmapping", "udp_connect", "udp_timeout", "tls_fragment", "tls_fragment_fallback_delay",
        "tls_record_fragment", "method", "no_drop", "sniffer", "timeout", "server", "strategy", "disable_cache",
        "disable_optimistic_cache", "rewrite_ttl", "client_subnet", "rcode", "answer", "ns", "extra",
    ]

    private static let noConditions: Set<String> = actions.union([
        "type", "mode", "invert", "rule_set_ip_cidr_match_source",
    ])

    /// True when the rule, nested or not, asks for anything.
    static func hasConditions(_ rule: JSON) -> Bool {
        rule.object?.members.contains { !noConditions.contains($0.key) && isSet($0.value) } ?? false
    }

    /// True unless the engine would take the value for absent.
    static func isSet(_ value: JSON) -> Bool {
        switch value {
        case .null: false
        case .bool(let value): value
        case .string(let text): !text.isEmpty
        case .array(let items): !items.isEmpty
        case .object(let object): !object.isEmpty
        case .number: true
        }
    }
}
