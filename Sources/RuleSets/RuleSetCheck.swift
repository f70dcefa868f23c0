// Whether bytes from the network are a rule-set this engine loads, by the engine's own judgement.

package import EngineControl
import JSON
package import Profiles
import Transfer

/// A rule-set that was found good, perhaps after a repair.
package struct CheckedRuleSet: Hashable, Sendable {
    /// The compiled rule-set.
    package var bytes: [UInt8]
    /// What was left out; nil for nothing.
    package var repair: String?
}

/// Why bytes are no rule-set.
package struct RuleSetDefect: Error, Hashable, Sendable {
    /// One phrase, without an address.
    package let reason: String
}

/// The check of a downloaded rule-set.
package enum RuleSetCheck {
    private static let repairs = 200

    /// Checks and, where only a regular expression is at fault that the engine's regexp package lacks, repairs.
    /// - Parameters:
    ///   - bytes: the download.
    ///   - format: what it should be.
    ///   - engine: loads it with `rule-set match`, which compiles every rule.
    /// - Throws: `RuleSetDefect`, or `EngineFailure` when the engine cannot be run at all.
    package static func check(
        _ bytes: [UInt8], format: LocalRuleSet.Format, engine: EngineBinary
    ) throws -> CheckedRuleSet {
        if bytes.isEmpty { throw RuleSetDefect(reason: "the file is empty") }
        if looksLikePage(bytes) { throw RuleSetDefect(reason: "a web page was sent instead of a rule-set") }
        switch format {
        case .binary:
            try checkBinary(bytes)
            try load(bytes, format, engine)
            return CheckedRuleSet(bytes: bytes)
        case .source: return try checkSource(bytes, engine: engine)
        }
    }

    /// The engine reads a binary rule-set only as far as it needs and so accepts one whose end is cut off: the compressed
    /// stream behind the four bytes of header is followed to its checksum here.
    private static func checkBinary(_ bytes: [UInt8]) throws(RuleSetDefect) {
        guard bytes.starts(with: Array("SRS".utf8)), bytes.count > 4 else {
            throw RuleSetDefect(reason: "not a binary rule-set")
        }
        switch Inflate.inflate(Array(bytes[4...]), limit: 256 << 20) {
        case .inflated: break
        case .tooLarge: throw RuleSetDefect(reason: "larger than 256 MiB when unpacked")
        case .plain, .damaged: throw RuleSetDefect(reason: "the file is damaged or cut off")
        }
    }

    private static func checkSource(_ bytes: [UInt8], engine: EngineBinary) throws -> CheckedRuleSet {
        var current = bytes
        var removed = 0
        while true {
            do {
                try load(current, .source, engine)
                return CheckedRuleSet(
                    bytes: current, repair: removed == 0 ? nil : "\(removed) regular expressions left out")
            } catch let defect as RuleSetDefect {
                guard removed < repairs, let repaired = withoutExpression(current, defect.reason) else { throw defect }
                current = repaired
                removed += 1
            }
        }
    }

    private static func load(_ bytes: [UInt8], _ format: LocalRuleSet.Format, _ engine: EngineBinary) throws {
        do {
            try engine.run(
                ["rule-set", "match", "--format", format.rawValue, "/dev/fd/3", "trocket.invalid"], input: bytes)
        } catch {
            guard case .rejected(let words) = error else { throw error }
            throw RuleSetDefect(reason: words)
        }
    }

    private static func looksLikePage(_ bytes: [UInt8]) -> Bool {
        let start = bytes.prefix(256).drop { $0 <= 0x20 || $0 == 0xef || $0 == 0xbb || $0 == 0xbf }
        return start.first == UInt8(ascii: "<")
    }

    /// The source without the one regular expression the engine names
    /// (`parse rule_set.rules.[4]: domain_regex: parse expression 2: …`); nil when it complains of something else.
    static func withoutExpression(_ bytes: [UInt8], _ complaint: String) -> [UInt8]? {
        guard let rule = number(in: complaint, after: "rules.["),
            let expression = number(in: complaint, after: "parse expression "),
            var document = try? JSON.parse(bytes, dialect: .lenient), var rules = document["rules"].array,
            rules.indices.contains(rule)
        else { return nil }
        let fields = ["domain_regex", "process_path_regex", "package_name_regex"]
        guard let field = fields.first(where: { complaint.contains(": \($0): parse expression ") }) else { return nil }
        var expressions = rules[rule][field].listed
        guard expressions.indices.contains(expression) else { return nil }
        expressions.remove(at: expression)
        if expressions.isEmpty {
            rules[rule].removeMember(field)
            // A rule without conditions would take everything, or be refused.
            if rules[rule].object?.members.allSatisfy({ $0.key == "invert" || $0.key == "type" }) != false {
                rules.remove(at: rule)
            }
        } else {
            rules[rule][field] = .array(expressions)
        }
        document["rules"] = .array(rules)
        return document.encoded()
    }

    private static func number(in text: String, after mark: String) -> Int? {
        let words = Array(text.utf8)
        let sought = Array(mark.utf8)
        guard words.count >= sought.count else { return nil }
        for start in 0...(words.count - sought.count) where words[start...].starts(with: sought) {
            let digits = words[(start + sought.count)...].prefix { (0x30...0x39).contains($0) }
            return Int(String(decoding: digits, as: UTF8.self))
        }
        return nil
    }
}
