// Proxy groups, kept for one purpose: a node may name one as its dialler.

internal import YAML

/// The members of each group, in order. Lists that many groups share (`include-all`, `use`) are kept once.
struct DialerGroups {
    /// How many providers one group may name; a profile has no more.
    private static let maximumUses = 16

    private struct Group {
        var members: [String] = []
        var includesOwn = false
        var includesProviders = false
        var uses: [String] = []
    }

    private var groups: [String: Group] = [:]
    private var own: [String] = []
    private var providers: [String: [String]] = [:]

    init() {}

    /// - Parameters:
    ///   - list: the profile's groups.
    ///   - own: the names of the profile's own nodes.
    ///   - providers: the names of each provider's nodes.
    init(_ list: [Fields], own: [String], providers: [String: [String]]) {
        self.own = own
        self.providers = providers
        for fields in list {
            guard let name = (try? fields.text("name")) ?? nil, groups[name] == nil else { continue }
            func isOn(_ key: String) -> Bool { ((try? fields.flag(key)) ?? nil) == true }
            var group = Group()
            group.members = ((try? fields.list("proxies")) ?? nil) ?? []
            group.includesOwn = isOn("include-all") || isOn("include-all-proxies")
            group.includesProviders = isOn("include-all") || isOn("include-all-providers")
            group.uses = Array((((try? fields.list("use")) ?? nil) ?? []).prefix(Self.maximumUses))
            groups[name] = group
        }
    }

    /// The members of a group, list by list; nil when there is no such group.
    subscript(_ name: String) -> [[String]]? {
        guard let group = groups[name] else { return nil }
        var lists = [group.members]
        if group.includesOwn { lists.append(own) }
        let used = group.includesProviders ? providers.keys.sorted() : group.uses
        lists.append(contentsOf: used.compactMap { providers[$0] })
        return lists
    }
}
