// Which rule-sets hold addresses, and which DNS rules therefore look at answers.

import JSON

/// The query types whose answers address conditions were ever tried on.
let addressQueries: [JSON] = ["A", "AAAA", "HTTPS"]

/// Answers whether a rule-set holds addresses. Inline ones are read; of others the caller may know; else the name decides,
/// which is right for the known lists. Taking a set of names for one of addresses costs a query and no answer.
struct AddressRuleSets {
    private let known: [String: Bool]

    init(_ document: JSON, _ certain: [String: Bool]) {
        var known: [String: Bool] = [:]
        for set in document["route"]["rule_set"].listed {
            guard let tag = set["tag"].string, known[tag] == nil else { continue }
            if set["rules"].array != nil {
                known[tag] = Self.holdsAddresses(set["rules"])
            } else {
                known[tag] = Self.looksLikeAddresses(tag) || Self.looksLikeAddresses(set["url"].string ?? "")
            }
        }
        self.known = known.merging(certain) { $1 }
    }

    func holdsAddresses(_ tag: String) -> Bool { known[tag] ?? Self.looksLikeAddresses(tag) }

    private static func holdsAddresses(_ rules: JSON) -> Bool {
        rules.listed.contains { $0["ip_cidr"].isSet || holdsAddresses($0["rules"]) }
    }

    static func looksLikeAddresses(_ name: String) -> Bool {
        // Only the last two parts of an address say anything; the host may well be called something with "ip".
        let parts = name.lowercased().split(separator: "/").suffix(2)
        return parts.contains { part in
            if part == "geoip" || part.hasPrefix("geoip-") || part.hasPrefix("geoip_") || part.hasPrefix("geoip@") {
                return true
            }
            let words = part.split { !$0.isLetter && !$0.isNumber }
            let address: Set<Substring> = ["ip", "ips", "ipcidr", "cidr", "geoip", "ipv4", "ipv6", "cnip", "chnroute"]
            return words.contains(where: address.contains)
        }
    }

    /// True for the conditions that look at an answer in a rule that does not say so yet.
    func holdsAddressFilter(_ rule: JSON) -> Bool {
        if rule["match_response"].isSet { return false }
        if rule["type"] == "logical" { return rule["rules"].listed.contains { holdsAddressFilter($0) } }
        return ["ip_cidr", "ip_is_private", "ip_accept_any"].contains { rule[$0].isSet } || namesAddressSet(rule)
    }

    func namesAddressSet(_ rule: JSON) -> Bool {
        rule["rule_set"].listed.contains { $0.string.map(holdsAddresses) ?? false }
    }
}
