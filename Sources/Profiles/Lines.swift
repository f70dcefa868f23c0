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
        let number: Int

        /// Built only when something is reported: most lines have nothing to report.
        var place: String { Self.place(isEndpoint, number) }

        static func place(_ isEndpoint: Bool, _ number: Int) -> String {
            "\(isEndpoint ? "endpoints" : "outbounds")[\(number)]"
        }
    }

    private(set) var items: [Item] = []
    /// The tags of the lines, in the order of the subscription.
    private(set) var lineTags: [String] = []
    private(set) var dropped: [DroppedLine] = []
    private(set) var changes: [Change] = []
    /// The first object made from each original tag, and the further ones.
    private var indexByOriginal: [String: Int] = [:]
    private var duplicates: [String: [Int]] = [:]
    /// Those whose detour leads nowhere.
    private var lost: Set<Int> = []

    /// What the engine can run as a line without touching this machine. Tor starts a program; Tailscale, OpenVPN and
    /// OpenConnect keep state, run scripts or make interfaces; `bridge` joins interfaces.
    private static let outboundTypes: Set<String> = [
        "shadowsocks", "vmess", "vless", "trojan", "anytls", "hysteria", "hysteria2", "tuic", "ssh", "socks", "http",
        "snell", "naive", "shadowtls",
    ]
    private static let plugins: Set<String> = ["", "obfs-local", "v2ray-plugin"]

    init(_ input: ShapingInput, groups: ProviderGroups, resolvers: Set<String>) {
        var tags = TagPool(reserved: ProfileTag.reserved)
        items.reserveCapacity(input.outbounds.count + input.endpoints.count)
        for (at, object) in input.outbounds.enumerated() {
            add(object, isEndpoint: false, number: at, resolvers, tags: &tags)
        }
        for (at, object) in input.endpoints.enumerated() {
            add(object, isEndpoint: true, number: at, resolvers, tags: &tags)
        }
        resolveDetours(groups: groups, documentTags: input.documentTags)
        orderLines(input.lineTags)
    }

    /// The kept objects of one kind, in their order.
    func objects(endpoints: Bool) -> [JSON] {
        items.indices.compactMap { at in
            items[at].isEndpoint == endpoints && !lost.contains(at) ? Optional.some(items[at].object) : Optional.none
        }
    }

    private mutating func add(
        _ source: JSON, isEndpoint: Bool, number: Int, _ resolvers: Set<String>, tags: inout TagPool
    ) {
        let type = source["type"].string
        guard let tag = source["tag"].string, !tag.isEmpty else {
            let name = Item.place(isEndpoint, number)
            dropped.append(DroppedLine(name: name, type: type, reason: .missingField, field: "tag"))
            return
        }
        if let (reason, field) = Self.fault(source, isEndpoint: isEndpoint) {
            dropped.append(DroppedLine(name: tag, type: type, reason: reason, field: field))
            return
        }
        let unique = tags.take(tag)
        var item = Item(object: source, tag: unique, originalTag: tag, isEndpoint: isEndpoint, number: number)
        HostileFields.strip(&item.object, place: { Item.place(isEndpoint, number) }, changes: &changes)
        HostileFields.stripPluginOptions(
            &item.object, place: { Item.place(isEndpoint, number) }, changes: &changes)
        if unique != tag {
            item.object["tag"] = .string(unique)
            changes.append(
                Change(place: item.place + ".tag", what: "renamed to \(unique)", reason: "the tag is taken"))
        }
        repairResolver(&item, resolvers)
        if indexByOriginal[tag] == nil {
            indexByOriginal[tag] = items.count
        } else {
            duplicates[tag, default: []].append(items.count)
        }
        items.append(item)
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
    private mutating func repairResolver(_ item: inout Item, _ resolvers: Set<String>) {
        let resolver = item.object["domain_resolver"]
        guard !resolver.isNull else { return }
        let named = resolver.string ?? resolver["server"].string
        if let named, resolvers.contains(named) { return }
        let isOurs = named == ProfileTag.convertedResolver
        if case .object = resolver {
            item.object["domain_resolver"]["server"] = .string(ProfileTag.directResolver)
        } else {
            item.object["domain_resolver"] = .string(ProfileTag.directResolver)
        }
        guard !isOurs else { return }
        changes.append(
            Change(
                place: item.place + ".domain_resolver", what: "server → \(ProfileTag.directResolver)",
                reason: "no such resolver outside the lines"))
    }

    private mutating func orderLines(_ wanted: [String]) {
        lineTags.reserveCapacity(wanted.count)
        var taken = Array(repeating: false, count: items.count)
        for tag in wanted {
            guard let first = indexByOriginal[tag], !taken[first] else { continue }
            taken[first] = true
            if !lost.contains(first) { lineTags.append(items[first].tag) }
            for at in duplicates[tag] ?? [] where !lost.contains(at) { lineTags.append(items[at].tag) }
        }
    }

    /// The tag an object of this name has in the profile; nil when it is not there.
    func tag(of original: String) -> String? {
        indexByOriginal[original].flatMap { lost.contains($0) ? Optional.none : items[$0].tag }
    }
}

extension Lines {
    private enum Way {
        case open
        case walking(step: Int)
        case sound
        case lost(DropReason)
    }

    private enum Detour {
        case line(Int)
        case direct
        case nowhere
    }

    /// Follows every `detour`: one that leads nowhere or round in a circle costs its line (never connect directly instead).
    private mutating func resolveDetours(groups: ProviderGroups, documentTags: [String: String]) {
        let dialled = items.indices.filter { items[$0].object["detour"].string != nil }
        guard !dialled.isEmpty else { return }
        var next: [Int?] = Array(repeating: nil, count: items.count)
        var ways: [Way] = Array(repeating: .sound, count: items.count)
        for at in dialled {
            let named = items[at].object["detour"].string ?? ""
            switch detour(named, groups: groups, documentTags: documentTags) {
            case .direct:
                items[at].object.removeMember("detour")
                changes.append(
                    Change(
                        place: items[at].place + ".detour", what: "removed",
                        reason: "a detour to an option-less direct outbound is refused and means no detour"))
            case .line(let target):
                next[at] = target
                ways[at] = .open
                guard items[target].tag != named else { continue }
                items[at].object["detour"] = .string(items[target].tag)
                changes.append(
                    Change(
                        place: items[at].place + ".detour", what: "→ \(items[target].tag)",
                        reason: "named a group or a renamed line"))
            case .nowhere: ways[at] = .lost(.dialerUnresolved)
            }
        }
        walk(next, &ways)
        for at in items.indices {
            guard case .lost(let reason) = ways[at] else { continue }
            lost.insert(at)
            dropped.append(
                DroppedLine(
                    name: items[at].tag, type: items[at].object["type"].string, reason: reason, field: "detour"))
        }
    }

    private func detour(_ named: String, groups: ProviderGroups, documentTags: [String: String]) -> Detour {
        if let own = indexByOriginal[documentTags[named] ?? named] { return .line(own) }
        switch groups.dialer(named) {
        case .line(let tag): return indexByOriginal[documentTags[tag] ?? tag].map(Detour.line) ?? .nowhere
        case .direct: return .direct
        case .proxy, .reject, .missing: return named == ProfileTag.direct || named.isEmpty ? .direct : .nowhere
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
}
