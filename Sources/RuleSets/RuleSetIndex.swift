// Which downloaded rule-sets are on disk: rule-sets/index.json.

import JSON
package import Profiles

/// One downloaded rule-set.
package struct CachedRuleSet: Hashable, Sendable {
    /// Where it was fetched.
    package var url: String
    /// The file's name: the beginning of its sha256 and its format's suffix.
    package var file: String
    /// How it is written.
    package var format: LocalRuleSet.Format
    /// Its length.
    package var bytes: Int
    /// In hexadecimal.
    package var sha256: String
    /// Seconds since 1970.
    package var fetchedAt: Int
    /// What was left out of it so that the engine takes it; nil for an untouched one.
    package var repair: String?
}

/// The index. It is only a record of downloads: one that cannot be read costs a download, nothing else.
struct RuleSetIndex {
    static let file = "index.json"
    var sets: [CachedRuleSet] = []

    init(sets: [CachedRuleSet] = []) { self.sets = sets }

    init(bytes: [UInt8]) {
        guard let json = try? JSON.parse(bytes) else { return }
        sets = json["sets"].listed.compactMap { entry in
            guard let url = entry["url"].string, let file = entry["file"].string, !file.contains("/"),
                let format = entry["format"].string.flatMap(LocalRuleSet.Format.init), let bytes = entry["bytes"].int,
                let sha256 = entry["sha256"].string, let fetchedAt = entry["fetchedAt"].int
            else { return nil }
            return CachedRuleSet(
                url: url, file: file, format: format, bytes: bytes, sha256: sha256, fetchedAt: fetchedAt,
                repair: entry["repair"].string)
        }
    }

    var bytes: [UInt8] {
        let entries = sets.map { set -> JSON in
            [
                "url": .string(set.url), "file": .string(set.file), "format": .string(set.format.rawValue),
                "bytes": .int(set.bytes), "sha256": .string(set.sha256), "fetchedAt": .int(set.fetchedAt),
                "repair": .optional(set.repair),
            ]
        }
        return (["version": 1, "sets": .array(entries)] as JSON).encoded(pretty: true)
    }

    subscript(url: String) -> CachedRuleSet? { sets.first { $0.url == url } }
}
