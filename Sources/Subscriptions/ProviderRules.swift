// What a `proxy-providers` entry does to its nodes: which it keeps and which fields it overrides.

internal import YAML

/// The filters and overrides of one provider (`mapping.md` 5).
struct ProviderRules {
    private var filters: [Pattern] = []
    private var exclusions: [Pattern] = []
    private var excludedTypes: Set<String> = []
    private let override: Fields
    private var renames: [(pattern: Pattern, target: String)] = []
    /// Fields that could not be honoured.
    private(set) var skipped: [String] = []

    /// Overrides that replace a node's own field.
    private static let replaced = [
        "udp", "tfo", "mptcp", "up", "down", "udp-over-tcp", "skip-cert-verify", "dialer-proxy", "ip-version",
    ]

    init(_ fields: Fields) {
        override = ((try? fields.inner("override")) ?? nil) ?? Fields()
        filters = patterns(fields, "filter")
        exclusions = patterns(fields, "exclude-filter")
        if let types = (try? fields.word("exclude-type")) ?? nil {
            excludedTypes = Set(types.split(separator: "|").map { NodeConverter.canonicalType($0.trimmed) })
        }
        for item in override.node("proxy-name")?.sequence ?? [] {
            guard let mapping = item.mapping else { continue }
            let rule = Fields(mapping)
            guard let text = (try? rule.text("pattern")) ?? nil else { continue }
            guard let pattern = Pattern(text) else {
                skipped.append("override.proxy-name")
                continue
            }
            renames.append((pattern, ((try? rule.text("target")) ?? nil) ?? ""))
        }
    }

    /// Several patterns stand behind each other, separated by backticks.
    private mutating func patterns(_ fields: Fields, _ key: String) -> [Pattern] {
        guard let text = (try? fields.text(key)) ?? nil else { return [] }
        var out: [Pattern] = []
        for item in text.split(separator: "`") {
            guard let pattern = Pattern(String(item)) else {
                skipped.append(key)
                return []
            }
            out.append(pattern)
        }
        return out
    }

    /// The entries that stay, changed as the provider asks.
    /// - Parameter fuel: how many steps of matching are left; the providers of one profile share them.
    mutating func apply(to entries: [Entry], fuel: inout Int) -> [Entry] {
        var out: [Entry] = []
        for entry in entries {
            guard case .node(var fields) = entry.content else {
                out.append(entry)
                continue
            }
            let name = ((try? fields.text("name")) ?? nil) ?? ""
            if excludedTypes.contains(NodeConverter.type(of: fields)) { continue }
            if !filters.isEmpty, !matches(filters, name, &fuel, "filter", otherwise: true) { continue }
            if matches(exclusions, name, &fuel, "exclude-filter", otherwise: false) { continue }
            change(&fields, name, &fuel)
            out.append(Entry(.node(fields), entry.place))
        }
        return out
    }

    /// True when one of the patterns is found; `otherwise` once they cost too much.
    private mutating func matches(
        _ patterns: [Pattern], _ name: String, _ fuel: inout Int, _ key: String, otherwise: Bool
    ) -> Bool {
        for pattern in patterns {
            guard let found = pattern.isFound(in: name, fuel: &fuel) else {
                if !skipped.contains(key) { skipped.append(key) }
                return otherwise
            }
            if found { return true }
        }
        return false
    }

    private mutating func change(_ fields: inout Fields, _ name: String, _ fuel: inout Int) {
        for key in Self.replaced {
            if let node = override.node(key) { fields.set(key, node: node) }
        }
        for (key, other) in [("up", "up-speed"), ("down", "down-speed")] {
            if let node = override.node(other) { fields.set(key, node: node) }
        }
        var changed = name
        for rename in renames {
            guard let text = rename.pattern.replacing(in: changed, with: rename.target, fuel: &fuel) else {
                if !skipped.contains("override.proxy-name") { skipped.append("override.proxy-name") }
                continue
            }
            changed = text
        }
        let prefix = ((try? override.text("additional-prefix")) ?? nil) ?? ""
        let suffix = ((try? override.text("additional-suffix")) ?? nil) ?? ""
        changed = prefix + changed + suffix
        if changed != name { fields.set("name", changed) }
    }
}
