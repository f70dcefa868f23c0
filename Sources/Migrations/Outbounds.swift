// Questions several migrations ask about a document's outbounds and resolvers.

import JSON

/// The tag of the outbound that takes what no rule takes: `route.final`, else the first outbound. Endpoints are never it.
func defaultOutbound(_ document: JSON) -> String? {
    if let named = document["route"]["final"].string, !named.isEmpty { return named }
    return document["outbounds"].array?.first?["tag"].string
}

/// The tags of direct outbounds without a single dial option: a detour to one is refused or kills every connection.
func emptyDirects(_ document: JSON) -> Set<String> {
    var tags: Set<String> = []
    for outbound in document["outbounds"].listed where outbound["type"].string == "direct" {
        guard let tag = outbound["tag"].string, !dialOptions.contains(where: { outbound[$0].isSet }) else { continue }
        tags.insert(tag)
    }
    return tags
}

private let dialOptions = [
    "detour", "bind_interface", "inet4_bind_address", "inet6_bind_address", "bind_address_no_port", "protect_path",
    "routing_mark", "reuse_addr", "netns", "connect_timeout", "tcp_fast_open", "tcp_multi_path",
    "disable_tcp_keep_alive", "tcp_keep_alive", "tcp_keep_alive_interval", "udp_fragment", "domain_resolver",
    "domain_strategy", "network_strategy", "network_type", "fallback_network_type", "fallback_delay",
]

/// The action keys of a DNS rule; everything else in it is a condition.
let dnsActionKeys: Set<String> = [
    "action", "server", "disable_cache", "disable_optimistic_cache", "rewrite_ttl", "client_subnet",
    "remove_client_subnet", "strategy", "timeout", "rcode", "answer", "ns", "extra", "method", "no_drop", "race",
    "speculative",
]

/// The conditions of a DNS rule without its action.
func conditions(_ rule: JSON) -> JSONObject {
    var object = rule.object ?? JSONObject()
    object.removeAll { dnsActionKeys.contains($0.key) }
    return object
}

/// The server a DNS rule asks; nil when its action is another one.
func askedServer(_ rule: JSON) -> String? {
    let action = rule["action"].string ?? "route"
    return ["route", "evaluate", ""].contains(action) ? rule["server"].string : nil
}

/// The resolver that `domain_resolver` objects name: the document's default, else its only server, else one made on the
/// spot (the system's own).
func resolverForDialers(_ document: inout JSON) -> JSON {
    let resolver = document["route"]["default_domain_resolver"]
    if case .object(let object) = resolver, object["server"]?.string != nil { return resolver }
    if let tag = resolver.string, !tag.isEmpty { return ["server": .string(tag)] }
    let servers = document["dns"]["servers"].listed
    let usable = servers.first { server in
        server["tag"].string.map { !$0.isEmpty } == true && server["type"].string != "fakeip" && !server["detour"].isSet
    }
    if let tag = usable?["tag"].string { return ["server": .string(tag)] }
    let tag = addLocalResolver(&document)
    // Beside another server the engine wants to be told.
    if !servers.isEmpty { document["route"]["default_domain_resolver"] = .string(tag) }
    return ["server": .string(tag)]
}

/// Adds the system's own resolver and returns its tag.
func addLocalResolver(_ document: inout JSON) -> String {
    let tags = Set(document["dns"]["servers"].listed.compactMap { $0["tag"].string })
    var tag = "dns-local"
    var number = 2
    while tags.contains(tag) {
        tag = "dns-local-\(number)"
        number += 1
    }
    document["dns"].append([["type": "local", "tag": .string(tag)]], to: "servers")
    return tag
}
