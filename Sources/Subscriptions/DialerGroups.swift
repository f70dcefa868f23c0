// Proxy groups, kept for one purpose: a node may name one as its dialler.

internal import YAML

/// The members of each group, in order.
struct DialerGroups {
    private var members: [String: [String]] = [:]

    init() {}

    /// - Parameters:
    ///   - groups: the profile's groups.
    ///   - own: the names of the profile's own nodes.
    ///   - providers: the names of each provider's nodes.
    init(_ groups: [Fields], own: [String], providers: [String: [String]]) {
        for group in groups {
            guard let name = (try? group.text("name")) ?? nil, members[name] == nil else { continue }
            var list = ((try? group.list("proxies")) ?? nil) ?? []
            let all = ((try? group.flag("include-all")) ?? nil) == true
            if all || ((try? group.flag("include-all-proxies")) ?? nil) == true { list.append(contentsOf: own) }
            if all || ((try? group.flag("include-all-providers")) ?? nil) == true {
                for provider in providers.keys.sorted() { list.append(contentsOf: providers[provider] ?? []) }
            } else {
                for provider in ((try? group.list("use")) ?? nil) ?? [] {
                    list.append(contentsOf: providers[provider] ?? [])
                }
            }
            members[name] = list
        }
    }

    /// The members of a group; nil when there is no such group.
    subscript(_ name: String) -> [String]? { members[name] }
}
