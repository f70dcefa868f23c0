// Cutting a share link into its parts (`mapping.md` 4.0).

import Notation

/// The parts of `scheme://userinfo@host:port/path?query#fragment`, cut by hand because real links break every strict
/// parser: several ports, raw unicode, base64 with `/` and `=`.
struct LinkParts {
    /// In lower case.
    let scheme: String
    /// Everything between `://` and `#`, as written.
    let body: String
    /// As written; nil without `@`.
    let userInfo: String?
    /// Without brackets, decoded.
    let host: String
    /// What stands after the host's colon, as written.
    let port: String
    let path: String
    /// The decoded fragment.
    let fragment: String
    private let query: [String: String]

    /// Cuts a line; nil when it does not start with `scheme://`.
    init?(_ line: String) {
        guard let (scheme, rest) = Self.scheme(of: line) else { return nil }
        self.scheme = scheme
        var body = rest
        var fragment = ""
        if let (before, after) = rest.cut(UInt8(ascii: "#")) {
            body = before
            fragment = after.percentDecoded
        }
        self.body = String(body)
        self.fragment = fragment
        var query: [String: String] = [:]
        if let (before, after) = body.cut(UInt8(ascii: "?")) {
            body = before
            Self.read(after, into: &query)
        }
        self.query = query
        var authority = body
        // Base64 in the user information may hold `/`, so it is cut off first, except where `@` can be part of a path.
        if scheme != "http", scheme != "https", let (user, after) = authority.cutLast(UInt8(ascii: "@")) {
            userInfo = String(user)
            authority = after
            path = Self.cutPath(&authority)
        } else {
            path = Self.cutPath(&authority)
            if let (user, after) = authority.cutLast(UInt8(ascii: "@")) {
                userInfo = String(user)
                authority = after
            } else {
                userInfo = nil
            }
        }
        if authority.utf8.first == UInt8(ascii: "["), let (host, after) = authority.dropFirst().cut(UInt8(ascii: "]")) {
            self.host = host.percentDecoded.trimmed
            port = after.utf8.first == UInt8(ascii: ":") ? after.dropFirst().trimmed : ""
        } else if let (host, after) = authority.cut(UInt8(ascii: ":")) {
            self.host = host.percentDecoded.trimmed
            port = after.trimmed
        } else {
            host = authority.percentDecoded.trimmed
            port = ""
        }
    }

    /// The scheme in lower case and what follows `://`.
    static func scheme(of line: String) -> (scheme: String, rest: Substring)? {
        guard let (scheme, after) = line.cut(UInt8(ascii: ":")), after.utf8.starts(with: "//".utf8) else { return nil }
        let bytes = scheme.utf8
        guard let first = bytes.first, first.isLetter, bytes.count <= 32,
            bytes.allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E })
        else { return nil }
        return (scheme.lowercased(), after.dropFirst(2))
    }

    private static func cutPath(_ authority: inout Substring) -> String {
        guard let (before, after) = authority.cut(UInt8(ascii: "/")) else { return "" }
        authority = before
        return "/" + after
    }

    private static func read(_ text: Substring, into query: inout [String: String]) {
        for item in text.split(separator: "&") {
            var item = item
            if item.hasPrefix("amp;") { item = item.dropFirst(4) }
            let (key, value) = item.cut(UInt8(ascii: "=")) ?? (item, "")
            let name = Self.normal(key.percentDecoded)
            if query[name] == nil { query[name] = value.percentDecoded }
        }
    }

    private static func normal(_ key: String) -> String {
        String(
            decoding: key.utf8.lazy.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }.map(\.lowercase),
            as: UTF8.self)
    }

    /// A query value, decoded; nil when absent or empty. The name is in lower case without `-` and `_`.
    subscript(_ key: String) -> String? {
        guard let value = query[key], !value.isEmpty else { return nil }
        return value
    }

    /// The first query value that is there.
    func first(_ keys: String...) -> String? {
        for key in keys {
            if let value = self[key] { return value }
        }
        return nil
    }

    /// Whether a query value means yes.
    func isOn(_ keys: String...) -> Bool {
        keys.contains { key in self[key].map(Self.means) ?? false }
    }

    static func means(_ value: String) -> Bool { ["1", "true", "yes"].contains(value.trimmed.lowercased()) }

    /// The decoded user information; nil when absent or empty.
    var user: String? {
        guard let text = userInfo?.percentDecoded, !text.isEmpty else { return nil }
        return text
    }
}
