// What the engine complains of when it refuses a profile, read from its one sentence.

package import JSON

/// The part of a profile the engine names.
enum KernelComplaint: Hashable {
    case outbound(Int)
    case endpoint(Int)
    case ruleSet(Int)
    case routeRule(Int)
    case dnsRule(Int)
    case resolver(Int)
    /// A member of `dns`.
    case dnsSetting(String)
    /// An outbound or endpoint, by tag.
    case tag(String)
    /// Something else.
    case other

    /// Reads a sentence such as `initialize outbound[3]: unknown method`, `outbounds[3].method: …`,
    /// `initialize router: parse rule-set[0]: …`, `dependency[x] not found for outbound[y]`, `start outbound/ssh[y]: …`.
    init(_ words: String) {
        let rest = words.hasPrefix("decode config at ") ? Substring(words).drop { $0 != " " } : Substring(words)
        for (mark, make) in Self.numbered {
            if let number = Self.bracketed(rest, after: mark).flatMap({ Int($0) }) {
                self = make(number)
                return
            }
        }
        // What depends on something absent is named last: `dependency[x] not found for outbound[y]`.
        for mark in [" not found for outbound[", " not found for endpoint["] {
            if let tag = Self.bracketed(rest, after: String(mark.dropLast())) {
                self = .tag(tag)
                return
            }
        }
        for mark in ["start outbound/", "start endpoint/", "initialize outbound/", "initialize endpoint/"] {
            guard let found = Self.range(of: mark, in: rest) else { continue }
            let after = rest[found.upperBound...].drop { $0 != "[" }
            if let tag = Self.bracketed(after, after: "") {
                self = .tag(tag)
                return
            }
        }
        if rest.hasPrefix("dns."), let end = rest.firstIndex(of: ":") {
            self = .dnsSetting(String(rest[..<end].dropFirst("dns.".count)))
            return
        }
        self = .other
    }

    /// True for what can be looked for among the lines alone.
    var isAboutALine: Bool {
        switch self {
        case .outbound, .endpoint: true
        default: false
        }
    }

    private static let numbered: [(String, @Sendable (Int) -> KernelComplaint)] = [
        ("outbounds", { .outbound($0) }), ("initialize outbound", { .outbound($0) }),
        ("endpoints", { .endpoint($0) }), ("initialize endpoint", { .endpoint($0) }),
        ("parse rule-set", { .ruleSet($0) }), ("route.rule_set", { .ruleSet($0) }),
        ("route.rules", { .routeRule($0) }), ("parse rule", { .routeRule($0) }),
        ("dns.rules", { .dnsRule($0) }), ("parse dns rule", { .dnsRule($0) }), ("validate dns rule", { .dnsRule($0) }),
        ("dns.servers", { .resolver($0) }), ("initialize DNS server", { .resolver($0) }),
    ]

    /// The text in the brackets right behind a mark.
    private static func bracketed(_ text: Substring, after mark: String) -> String? {
        let start: Substring.Index
        if mark.isEmpty {
            start = text.startIndex
        } else {
            guard let found = range(of: mark + "[", in: text) else { return nil }
            start = text.index(before: found.upperBound)
        }
        guard start < text.endIndex, text[start] == "[" else { return nil }
        var depth = 0
        var inside = ""
        for character in text[start...] {
            if character == "[" { depth += 1 }
            if character == "]" { depth -= 1 }
            if depth == 0 { return inside }
            if depth > 1 || character != "[" { inside.append(character) }
        }
        return nil
    }

    private static func range(of mark: String, in text: Substring) -> Range<Substring.Index>? {
        var at = text.startIndex
        while at < text.endIndex {
            if text[at...].hasPrefix(mark) { return at..<text.index(at, offsetBy: mark.count) }
            at = text.index(after: at)
        }
        return nil
    }
}

/// Takes secrets out of the engine's sentences, which quote what they could not read.
package enum Scrubber {
    /// Members whose values are no secrets and help to understand.
    private static let open: Set<String> = [
        "type", "tag", "method", "security", "network", "flow", "version", "plugin", "mode", "congestion_control",
        "fingerprint", "alpn", "outbound", "outbounds", "detour", "default",
    ]

    /// The words without any text value of the object, but those of harmless members.
    package static func scrub(_ words: String, of object: JSON) -> String {
        var secrets: [String] = []
        collect(object, into: &secrets)
        var kept = words
        for secret in secrets.sorted(by: { $0.count > $1.count }) { kept = replace(secret, in: kept) }
        return kept
    }

    private static func collect(_ value: JSON, into secrets: inout [String]) {
        switch value {
        case .string(let text): if text.count > 3 { secrets.append(text) }
        case .array(let items): for item in items { collect(item, into: &secrets) }
        case .object(let members):
            for member in members.members where !open.contains(member.key) { collect(member.value, into: &secrets) }
        case .null, .bool, .number: break
        }
    }

    private static func replace(_ secret: String, in text: String) -> String {
        let sought = Array(secret.utf8)
        let source = Array(text.utf8)
        guard source.count >= sought.count else { return text }
        var out: [UInt8] = []
        var at = 0
        while at < source.count {
            if source[at] == sought[0], source[at...].starts(with: sought) {
                out += Array("…".utf8)
                at += sought.count
            } else {
                out.append(source[at])
                at += 1
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
