// What the user names as a subscription: a link, a deep link, a file, standard input, or share links themselves.

import Notation
import Subscriptions
import Transfer

/// A subscription's source, resolved.
package enum ImportSource: Hashable, Sendable {
    /// A web address and the name given along with it.
    case link(String, title: String?)
    /// The content itself.
    case content([UInt8])
    /// Bodies fetched earlier.
    case stored([SourceBody])

    /// Bytes a file or standard input may have.
    package static let limit = 32 << 20

    /// Finds out what an argument names.
    /// - Parameters:
    ///   - argument: `-`, an http(s) link, a deep link, share links, or a file's path.
    ///   - standardInput: reads it; called for `-` only.
    ///   - file: reads a file; called for a path only.
    /// - Throws: `ImportError` with `bad-source`, or what the readers throw.
    package static func resolve(
        _ argument: String, standardInput: () throws -> [UInt8], file: (String) throws -> [UInt8]
    ) throws -> ImportSource {
        if argument == "-" {
            let bytes = try standardInput()
            if let text = singleLine(bytes), let source = try address(text) { return source }
            return .content(bytes)
        }
        let trimmed = trim(argument)
        if let source = try address(trimmed) { return source }
        if let scheme = scheme(of: trimmed) {
            guard ShareLinkSchemes.contains(scheme) else {
                throw ImportError.badSource(
                    "只能从 http 和 https 链接获取订阅，不支持 \(scheme)://。",
                    "Only http and https links can be fetched, not \(scheme)://.")
            }
            return .content(Array(trimmed.utf8))
        }
        return .content(try file(argument))
    }

    /// A text that is one short line, or a link that mail or chat broke into several; nil for everything else.
    private static func singleLine(_ bytes: [UInt8]) -> String? {
        guard bytes.count <= 16_384 else { return nil }
        let lines = trim(String(decoding: bytes, as: UTF8.self)).split(whereSeparator: \.isNewline).map {
            trim(String($0))
        }
        guard lines.count > 1 else { return lines.first ?? "" }
        let isBroken =
            fetchable.contains(scheme(of: lines[0]) ?? "")
            && lines.dropFirst().allSatisfy { line in
                line.utf8.allSatisfy { (0x21...0x7e).contains($0) } && line.firstRange(of: "://") == nil
            }
        return isBroken ? lines.joined() : nil
    }

    /// Schemes of links that name a subscription instead of being one.
    private static let fetchable: Set<String> = [
        "http", "https", "sing-box", "clash", "clashmeta", "clash-meta", "mihomo",
    ]

    /// A link or deep link; nil when the text is neither.
    private static func address(_ text: String) throws(ImportError) -> ImportSource? {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        switch scheme {
        case "http", "https":
            // An http share link (`http://user:pass@host:port`, no path) reads like one; as a subscription's address it
            // would make no sense without a path, but a bare host may serve one.
            guard let address = WebAddress(text) else {
                throw .badSource("链接不完整,无法识别。", "The link is incomplete and cannot be read.")
            }
            return .link(withoutFragment(text), title: address.fragment?.percentDecoded)
        case "sing-box", "clash", "clashmeta", "clash-meta", "mihomo":
            guard let address = WebAddress(text), ["import-remote-profile", "install-config"].contains(address.host)
            else {
                return nil
            }
            guard let inner = address.queryValue("url"), let target = WebAddress(inner),
                ["http", "https"].contains(target.scheme)
            else {
                throw .badSource("这个导入链接里没有订阅地址。", "This import link holds no address of a subscription.")
            }
            let name = address.queryValue("name") ?? address.fragment?.percentDecoded
            return .link(withoutFragment(inner), title: name ?? target.fragment?.percentDecoded)
        default: return nil
        }
    }

    /// The scheme of a text that begins like a link (RFC 3986 3.1), in small letters; nil for other texts.
    private static func scheme(of text: String) -> String? {
        guard let end = text.firstRange(of: "://")?.lowerBound else { return nil }
        let scheme = text[..<end].lowercased()
        guard scheme.first?.isLetter == true, scheme.utf8.count <= 32,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return scheme
    }

    private static func withoutFragment(_ text: String) -> String { String(text.prefix { $0 != "#" }) }

    private static func trim(_ text: String) -> String {
        let blank: (Character) -> Bool = { $0.isWhitespace || $0 == "\u{feff}" }
        var rest = text.drop(while: blank)
        while let last = rest.last, blank(last) { rest.removeLast() }
        return String(rest)
    }
}

/// One body of a subscription and how it was got.
package struct SourceBody: Hashable, Sendable {
    /// The User-Agent; nil for a file or standard input.
    package var agent: String?
    /// The proxy-provider it is the list of; nil for the subscription itself.
    package var provider: String?
    /// What was sent.
    package var bytes: [UInt8]
    /// The HTTP status; nil without HTTP.
    package var status: Int?
    /// What came with it in headers.
    package var details: ProviderDetails

    package init(
        agent: String?, provider: String? = nil, bytes: [UInt8], status: Int? = nil,
        details: ProviderDetails = ProviderDetails()
    ) {
        self.agent = agent
        self.provider = provider
        self.bytes = bytes
        self.status = status
        self.details = details
    }
}
