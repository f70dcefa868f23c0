// Taking secrets out of texts that leave the machine.

import Importing
package import JSON
package import Store

/// Replaces what identifies a user or opens a line: links, passwords, identifiers, names of lines and servers, addresses.
package struct Redaction {
    private var names: [(secret: String, shown: String)] = []

    /// - Parameters:
    ///   - state: names, servers and the link.
    ///   - profile: the stored profile; nil when there is none.
    package init(state: State, profile: JSON?) {
        var found: [String: String] = [:]
        func add(_ secret: String, _ shown: String) {
            // Shorter texts would blot out ordinary words; a value that short is no secret.
            if secret.unicodeScalars.count >= 3, found[secret] == nil { found[secret] = shown }
        }
        for (number, line) in (state.subscription?.lines ?? []).enumerated() {
            add(line.name, "<line-\(number + 1)>")
            add(line.tag, "<line-\(number + 1)>")
            add(line.server, "<server-\(number + 1)>")
            add(line.identity, "<id-\(number + 1)>")
        }
        if let link = state.subscription?.link {
            add(link, "<link>")
            let host = link.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first.map(String.init)
            if let host { add(host, "<provider>") }
        }
        if let title = state.subscription?.title { add(title, "<title>") }
        for secret in profile.map(ProfileRedaction.secrets) ?? [] { add(secret, "<secret>") }
        // The longest first, so that a name that holds another is replaced whole.
        names = found.map { ($0.key, $0.value) }.sorted { ($0.0.utf8.count, $0.0) > ($1.0.utf8.count, $1.0) }
    }

    /// The text without secrets. Addresses and host names that are no secret of the subscription are masked too: where
    /// somebody has been is theirs.
    package func callAsFunction(_ text: String) -> String {
        var text = text
        for (secret, shown) in names where text.contains(secret) { text = Self.replace(secret, shown, in: text) }
        return Self.maskingPlaces(text)
    }

    /// Masks words that look like an address with a port, a host name with a dot, or a URL.
    static func maskingPlaces(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: " ", omittingEmptySubsequences: false).map { maskingPlace(String($0)) }
                .joined(separator: " ")
        }.joined(separator: "\n")
    }

    private static func maskingPlace(_ word: String) -> String {
        if word.contains("://") { return "<url>" }
        let core = word.drop { "\"'({".contains($0) }
        guard core.contains(where: { $0 == "." || $0 == ":" }) else { return word }
        let ends = core.reversed().drop { ",;\"')]}.:".contains($0) }
        let body = String(ends.reversed())
        guard isPlace(body) else { return word }
        return word.replacingFirst(body, with: "<host>")
    }

    private static func isPlace(_ word: String) -> Bool {
        var host = word[...]
        if let colon = word.lastIndex(of: ":"), word[word.index(after: colon)...].allSatisfy(\.isNumber) {
            host = word[..<colon]
        }
        let colons = host.count { $0 == ":" }
        if colons >= 2, host.allSatisfy({ $0.isHexDigit || ":.[]%".contains($0) }) {
            // A clock reads like a short IPv6 address; addresses with loopback and unspecified hosts are nobody's.
            return !host.allSatisfy { $0.isNumber || $0 == ":" || $0 == "." } && host != "::1"
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2,
            labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" } })
        else { return false }
        if labels.allSatisfy({ $0.allSatisfy(\.isNumber) }) { return labels.count == 4 && !host.hasPrefix("127.") }
        return (labels.last ?? "").allSatisfy(\.isLetter)
            && !["srs", "json", "sock", "log", "conf", "db", "pid", "service", "socket"].contains(labels.last ?? "")
    }

    private static func replace(_ text: String, _ other: String, in whole: String) -> String {
        var result = ""
        var rest = whole[...]
        while let found = rest.firstRange(of: text) {
            result += rest[..<found.lowerBound] + other
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}

extension String {
    fileprivate func replacingFirst(_ text: String, with other: String) -> String {
        guard let found = firstRange(of: text) else { return self }
        return self[..<found.lowerBound] + other + self[found.upperBound...]
    }
}
