// The engine's release and build tags, as `sing-box version` prints them.

import ImportReport

/// A release such as `1.14.2` or `1.15.0-alpha.3`.
package struct EngineVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The 1 of 1.14.2.
    package let major: Int
    /// The 14 of 1.14.2.
    package let minor: Int
    /// The 2 of 1.14.2.
    package let patch: Int
    /// What follows the numbers after a dash, such as `alpha.3`; empty for a release.
    package let suffix: String

    /// The oldest release this product works with: the sandbox (`network_namespaces`) came with it.
    package static let minimum = EngineVersion(major: 1, minor: 14, patch: 0)

    package init(major: Int, minor: Int, patch: Int, suffix: String = "") {
        self.major = major
        self.minor = minor
        self.patch = patch
        self.suffix = suffix
    }

    /// Reads `1.14.2` or `1.15.0-alpha.3`; nil when it is no version.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", maxSplits: 1)
        let numbers = (parts.first ?? "").split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2] else {
            return nil
        }
        self.init(major: major, minor: minor, patch: patch, suffix: parts.count > 1 ? String(parts[1]) : "")
    }

    /// By the three numbers; a pre-release comes before its release.
    package static func < (left: EngineVersion, right: EngineVersion) -> Bool {
        let numbers = ((left.major, left.minor, left.patch), (right.major, right.minor, right.patch))
        if numbers.0 != numbers.1 { return numbers.0 < numbers.1 }
        if left.suffix.isEmpty || right.suffix.isEmpty { return !left.suffix.isEmpty && right.suffix.isEmpty }
        return left.suffix < right.suffix
    }

    /// True when the engine has what the product needs; a pre-release of the minimum has it too.
    package var isSupported: Bool {
        (major, minor) >= (EngineVersion.minimum.major, EngineVersion.minimum.minor)
    }

    package var description: String { "\(major).\(minor).\(patch)" + (suffix.isEmpty ? "" : "-\(suffix)") }
}

extension EngineVersion {
    /// Reads the output of `sing-box version`: the release and the build tags. nil when it is not that.
    static func parse(_ output: String) -> (version: EngineVersion, capabilities: EngineCapabilities)? {
        var version: EngineVersion?
        var tags: Set<String> = []
        for line in output.split(separator: "\n") {
            if line.hasPrefix("sing-box version ") {
                version = EngineVersion(line.dropFirst("sing-box version ".count))
            } else if line.hasPrefix("Tags:") {
                tags = Set(line.dropFirst("Tags:".count).split { $0 == "," || $0 == " " }.map(String.init))
            }
        }
        return version.map { ($0, EngineCapabilities(tags: tags)) }
    }
}
