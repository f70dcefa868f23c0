// What became of each rule-set, for the report of an import and the verb `rule-sets`.

package import JSON

/// One rule-set of a profile: where it comes from and what is on disk.
package struct RuleSetReport: Hashable, Sendable {
    /// How the profile has it.
    package enum Status: String, Sendable {
        /// Part of the installation.
        case bundled
        /// Downloaded and kept.
        case cached
        /// Not to be had; the rules that name only it are gone.
        case removed
    }

    /// The rule-set's tag in the profile.
    package var tag: String
    /// Where it comes from, or that it is gone.
    package var status: Status
    /// Without query and credentials; nil for a bundled one.
    package var url: String?
    /// Its length; nil when there is none.
    package var bytes: Int?
    /// In hexadecimal.
    package var sha256: String?
    /// Seconds since 1970, of the download.
    package var fetchedAt: Int?
    /// Why it is removed, or why an older copy is used.
    package var reason: String?

    package init(
        tag: String, status: Status, url: String? = nil, bytes: Int? = nil, sha256: String? = nil,
        fetchedAt: Int? = nil,
        reason: String? = nil
    ) {
        self.tag = tag
        self.status = status
        self.url = url
        self.bytes = bytes
        self.sha256 = sha256
        self.fetchedAt = fetchedAt
        self.reason = reason
    }

    /// `{"tag", "status", "url", "bytes", "sha256", "reason", "fetchedAt"}`.
    package var json: JSON {
        [
            "tag": .string(tag), "status": .string(status.rawValue), "url": .optional(url), "bytes": .optional(bytes),
            "sha256": .optional(sha256), "reason": .optional(reason), "fetchedAt": .optional(fetchedAt),
        ]
    }

    /// Reads what `json` wrote; nil when it is something else.
    package init?(json: JSON) {
        guard let tag = json["tag"].string, let status = json["status"].string.flatMap(Status.init) else { return nil }
        self.init(
            tag: tag, status: status, url: json["url"].string, bytes: json["bytes"].int, sha256: json["sha256"].string,
            fetchedAt: json["fetchedAt"].int, reason: json["reason"].string)
    }
}
