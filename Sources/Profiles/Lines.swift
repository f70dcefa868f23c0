// The lines as they may stand in a profile: known types, unique tags, references that lead somewhere, nothing hostile.

import ImportReport
import JSON

/// The repaired outbounds and endpoints.
struct Lines {
    /// A line or a helper of one.
    struct Item {
        var object: JSON
        var tag: String
        let originalTag: String
        let isEndpoint: Bool
        let place: String
    }

    private(set) var items: [Item] = []
    /// The tags of the lines, in the order of the subscription.
    private(set) var lineTags: [String] = []
    private(set) var dropped: [DroppedLine] = []
    private(set) var changes: [Change] = []
    /// The first object made from each original tag.
    private(set) var tagByOriginal: [String: String] = [:]

    /// What the engine can run as a line without touching this machine. Tor starts a program; Tailscale, OpenVPN and
    /// OpenConnect keep state, run scripts or make interfaces; `bridge` joins interfaces.
    private static let outboundTypes: Set<String> = [
        "shadowsocks", "vmess", "vless", "trojan", "anytls", "hysteria", "hysteria2", "tuic", "ssh", "socks", "http",
        "snell", "naive", "shadowtls",
    ]
    private static let plugins: Set<String> = ["", "obfs-local", "v2ray-plugin"]

    init(_ input: ShapingInput, groups: ProviderGroups, resolvers: Set<String>) {
        var tags = TagPool(reserved: ProfileTag.reserved)
        for (at, object) in input.outbounds.enumerated() {
            add(object, isEndpoint: false, place: "outbounds[\(at)]", tags: &tags)
        }
        for (at, object) in input.endpoints.enumerated() {
            add(object, isEndpoint: true, place: "endpoints[\(at)]", tags: &tags)
        }
        for at in items.indices { repairResolver(at, resolvers: resolvers) }
        resolveDetours(groups: groups, documentTags: input.documentTags)
        orderLines(input.lineTags)
    }

    /// The kept objects of one kind, in their order.
    func objects(endpoints: Bool) -> [JSON] { items.filter { $0.isEndpoint == endpoints }.map(\.object) }

    private mutating func add(_ source: JSON, isEndpoint: Bool, place: String, tags: inout TagPool) {
        let type = source["type"].string
        guard let tag = source["tag"].string, !tag.isEmpty else {
            dropped.append(DroppedLine(name: place, type: type, reason: .missingField, field: "tag"))
            return
        }
        if let (reason, field) = Self.fault(source, isEndpoint: isEndpoint) {
            dropped.append(DroppedLine(name: tag, type: type, reason: reason, field: field))
            return
        }
        var object = source
        HostileFields.strip(&object, place: place, changes: &changes)
        let unique = tags.take(tag)
        if unique != tag {
            object["tag"] = .string(unique)
            changes.append(Change(place: place + ".tag", what: "renamed to \(unique)", reason: "the tag is taken"))
        }
        if tagByOriginal[tag] == nil { tagByOriginal[tag] = unique }
        items.append(Item(object: object, tag: unique, originalTag: tag, isEndpoint: isEndpoint, place: place))
    }

    /// Why an object cannot be a line; nil when it can.
    private static func fault(_ object: JSON, isEndpoint: Bool) -> (DropReason, String?)? {
        guard let type = object["type"].string else { return (.missingField, "type") }
        if isEndpoint { return type == "wireguard" ? nil : (.unsupportedType, nil) }
        guard outboundTypes.contains(type) else { return (.unsupportedType, nil) }
        let detour = object["detour"]
        if !detour.isNull, detour.string == nil { return (.badField, "detour") }
        if type == "shadowsocks", !plugins.contains(object["plugin"].string ?? "") {
            return (.unsupportedPlugin, "plugin")
        }
        if type == "ssh", object["private_key"].isNull, !object["private_key_path"].isNull {
            return (.localFile, "private_key_path")
        }
        if type == "hysteria2", !object["realm"].isNull { return (.unsupportedFeature, "realm") }
        return nil
    }

    /// A line's own resolver must exist and must not lie behind a line (it would ask itself for the way to itself).
    private mutating func repairResolver(_ at: Int, resolvers: Set<String>) {
        let resolver = items[at].object["domain_resolver"]
        guard !resolver.isNull else { return }
        let named = resolver.string ?? resolver["server"].string
        if let named, resolvers.contains(named) { return }
        if case .object = resolver {
            items[at].object["domain_resolver"]["server"] = .string(ProfileTag.directResolver)
        } else {
            items[at].object["domain_resolver"] = .string(ProfileTag.directResolver)
        }
        changes.append(
            Change(
                place: items[at].place + ".domain_resolver", what: "server → \(ProfileTag.directResolver)",
                reason: "no such resolver outside the lines"))
    }

    private mutating func orderLines(_ wanted: [String]) {
        var byOriginal: [String: [String]] = [:]
        for item in items { byOriginal[item.originalTag, default: []].append(item.tag) }
        for tag in wanted { lineTags.append(contentsOf: byOriginal.removeValue(forKey: tag) ?? []) }
    }
}

extension Lines {
    private enum Way {
        case open
        case walking(step: Int)
        case sound
        case lost(DropReason)
    }

    /// Follows every `detour`: one that leads nowhere or round in a circle costs its line (never connect directly instead).
    private mutating func resolveDetours(groups: ProviderGroups, documentTags: [String: String]) {
        var indexByTag: [String: Int] = [:]
        for (at, item) in items.enumerated() { indexByTag[item.tag] = at }
        var next: [Int?] = Array(repeating: nil, count: items.count)
        var ways: [Way] = Array(repeating: .open, count: items.count)
        for at in items.indices {
            guard let named = items[at].object["detour"].string else {
                ways[at] = .sound
                continue
            }
            switch target(of: named, from: at, groups: groups, documentTags: documentTags) {
            case .direct:
                items[at].object.removeMember("detour")
                changes.append(
                    Change(
                        place: items[at].place + ".detour", what: "removed",
                        reason: "a detour to an option-less direct outbound is refused and means no detour"))
                ways[at] = .sound
            case .line(let tag):
                if tag != named {
                    items[at].object["detour"] = .string(tag)
                    changes.append(
                        Change(
                            place: items[at].place + ".detour", what: "→ \(tag)",
                            reason: "named a group or a renamed line"))
                }
                next[at] = indexByTag[tag]
                if next[at] == nil { ways[at] = .lost(.dialerUnresolved) }
            case .proxy, .reject, .missing: ways[at] = .lost(.dialerUnresolved)
            }
        }
        walk(next, &ways)
        remove(ways)
    }

    private func target(
        of named: String, from at: Int, groups: ProviderGroups, documentTags: [String: String]
    ) -> RouteTarget {
        if let own = tagByOriginal[documentTags[named] ?? named] { return .line(own) }
        switch groups.dialer(named) {
        case .line(let tag): return tagByOriginal[documentTags[tag] ?? tag].map(RouteTarget.line) ?? .missing
        case .direct: return .direct
        case .proxy, .reject, .missing: return named == ProfileTag.direct ? .direct : .missing
        }
    }

    /// Marks every open item; each is visited once, so a chain of 50,000 costs no more than 50,000 single ones.
    private func walk(_ next: [Int?], _ ways: inout [Way]) {
        for start in ways.indices {
            var path: [Int] = []
            var at = start
            var end: Way?
            while end == nil {
                switch ways[at] {
                case .open:
                    ways[at] = .walking(step: path.count)
                    path.append(at)
                    if let following = next[at] { at = following } else { end = .lost(.dialerUnresolved) }
                case .walking(let step):
                    for member in path[step...] { ways[member] = .lost(.dialerCycle) }
                    path.removeSubrange(step...)
                    end = .lost(.dialerUnresolved)
                case .sound: end = .sound
                case .lost: end = .lost(.dialerUnresolved)
                }
            }
            if let end { for member in path { ways[member] = end } }
        }
    }

    private mutating func remove(_ ways: [Way]) {
        var kept: [Item] = []
        for (item, way) in zip(items, ways) {
            if case .lost(let reason) = way {
                dropped.append(
                    DroppedLine(name: item.tag, type: item.object["type"].string, reason: reason, field: "detour"))
                if tagByOriginal[item.originalTag] == item.tag { tagByOriginal[item.originalTag] = nil }
            } else {
                kept.append(item)
            }
        }
        items = kept
    }
}
