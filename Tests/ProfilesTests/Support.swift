// Short ways to build inputs and to look into profiles.

import ImportReport
import JSON

@testable import Profiles

func line(_ tag: String, _ more: [String: JSON] = [:]) -> JSON {
    var object: JSON = [
        "type": "trojan", "tag": .string(tag), "server": "node.example.net", "server_port": 443, "password": "p",
        "tls": ["enabled": true, "server_name": "node.example.net"],
    ]
    for (key, value) in more { object[key] = value }
    return object
}

let domesticSets = [
    LocalRuleSet(tag: "geosite-cn", path: "/sets/geosite-cn.srs", isBundled: true),
    LocalRuleSet(tag: "geoip-cn", path: "/sets/geoip-cn.srs", isBundled: true),
]

/// Shapes a document as the importer does: everything that is no group and nothing built in is a line.
func shape(_ text: String, _ sets: [LocalRuleSet] = domesticSets) throws -> ShapedProfile {
    let document = try JSON.parse(text, dialect: .lenient)
    return try ProfileShaper.shape(input(document, sets))
}

func input(_ document: JSON, _ sets: [LocalRuleSet] = domesticSets) -> ShapingInput {
    let others: Set<String> = ["selector", "urltest", "direct", "block"]
    let outbounds = document["outbounds"].listed.filter { !others.contains($0["type"].string ?? "") }
    let endpoints = document["endpoints"].listed
    return ShapingInput(
        outbounds: outbounds, endpoints: endpoints, lineTags: (outbounds + endpoints).compactMap { $0["tag"].string },
        document: document, ruleSets: sets)
}

extension ShapedProfile {
    func outbound(_ tag: String) -> JSON? {
        profile["outbounds"].listed.first { $0["tag"].string == tag }
    }
    var rules: [JSON] { profile["route"]["rules"].listed }
    var dnsRules: [JSON] { profile["dns"]["rules"].listed }
    /// The rules that are the provider's: those between our first four and our last.
    var providerRules: [JSON] { Array(rules.dropFirst(4).dropLast()) }
    func changed(_ place: String) -> Bool { changes.contains { $0.place == place } }
}
