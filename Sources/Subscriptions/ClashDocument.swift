// A Clash or mihomo profile: of all its sections only the nodes count, and groups only where a node dials through one.

internal import ImportReport
internal import YAML

/// Reading Clash profiles (`mapping.md` 5).
struct ClashDocument {
    /// More nodes than this are refused.
    static let maximumNodes = 50_000
    private static let maximumProviders = 16

    private let root: Fields
    private let bodies: [String: [UInt8]]
    private var document = SourceDocument(format: .clash)
    private var providerNames: [String: [String]] = [:]

    /// True for a mapping that is a Clash profile, with or without nodes.
    static func recognises(_ root: Fields) -> Bool {
        let nodes = ["proxies", "proxy", "proxy-providers", "proxy-provider"]
        let others = [
            "proxy-groups", "proxy group", "rules", "rule", "mixed-port", "rule-providers", "external-controller",
        ]
        return (nodes + others).contains { root.values[$0] != nil }
    }

    /// The nodes of a profile.
    /// - Parameter bodies: what fetched providers answered, by name.
    static func read(_ root: Fields, bodies: [String: [UInt8]]) throws(SubscriptionError) -> SourceDocument {
        var reader = ClashDocument(root: root, bodies: bodies)
        return try reader.read()
    }

    /// The entries of a bare list of nodes.
    static func entries(_ items: [Node]) throws(SubscriptionError) -> [Entry] {
        guard items.count <= maximumNodes else {
            throw SubscriptionError(.tooLarge, "The profile holds \(items.count) lines; \(maximumNodes) are the limit.")
        }
        return items.enumerated().map { index, item in
            Entry(item.mapping.map { .node(Fields($0)) } ?? .notAMap, "entry \(index + 1)")
        }
    }

    private init(root: Fields, bodies: [String: [UInt8]]) {
        self.root = root
        self.bodies = bodies
    }

    private mutating func read() throws(SubscriptionError) -> SourceDocument {
        let list = root.node("proxies") ?? root.node("proxy")
        document.entries = try Self.entries(list?.sequence ?? [])
        let own = document.entries.compactMap(\.rawName)
        try readProviders()
        guard document.entries.count <= Self.maximumNodes else {
            throw SubscriptionError(.tooLarge, "The profile holds more than \(Self.maximumNodes) lines.")
        }
        let groups = (root.node("proxy-groups") ?? root.node("proxy group"))?.sequence ?? []
        document.unusedGroups = groups.count
        document.unusedRules = (root.node("rules") ?? root.node("rule"))?.sequence?.count ?? 0
        document.groups = DialerGroups(
            groups.compactMap(\.mapping).map { Fields($0) }, own: own, providers: providerNames)
        return document
    }

    private mutating func readProviders() throws(SubscriptionError) {
        guard let providers = (root.node("proxy-providers") ?? root.node("proxy-provider"))?.mapping else { return }
        var fuel = 20_000_000
        for pair in providers.pairs.prefix(Self.maximumProviders) {
            guard let mapping = pair.value.mapping else { continue }
            let fields = Fields(mapping)
            var entries: [Entry] = []
            switch ((try? fields.word("type")) ?? nil) ?? "" {
            case "http":
                guard let url = (try? fields.text("url")) ?? nil else { continue }
                let name = Names.cleaned(pair.key)
                guard let body = bodies[name] else {
                    document.providers.append(ProviderRequest(name: name, url: url.trimmed))
                    continue
                }
                do throws(SubscriptionError) {
                    entries = try Recognition.nodes(of: body)
                } catch {
                    document.notices.append(
                        Notice(name: nil, code: .fieldDropped, field: "proxy-providers." + Names.short(pair.key)))
                }
            case "inline", "":
                entries = try Self.entries(fields.node("payload")?.sequence ?? [])
            default: continue
            }
            if entries.isEmpty, let payload = fields.node("payload")?.sequence { entries = try Self.entries(payload) }
            for index in entries.indices { entries[index].place += " of \(Names.short(pair.key))" }
            var rules = ProviderRules(fields)
            let kept = rules.apply(to: entries, fuel: &fuel)
            for field in rules.skipped {
                document.notices.append(
                    Notice(name: nil, code: .fieldDropped, field: "proxy-providers.\(Names.short(pair.key)).\(field)"))
            }
            providerNames[pair.key] = kept.compactMap(\.rawName)
            document.entries.append(contentsOf: kept)
        }
    }
}

extension Entry {
    /// The name of a node as written.
    var rawName: String? {
        guard case .node(let fields) = content else { return nil }
        return (try? fields.text("name")) ?? nil
    }
}
