// Lists of share links: one link a line, whatever its scheme (`mapping.md` 4).

internal import ImportReport
import Notation
internal import YAML

/// The schemes of share links, for those who must tell them from other links.
package enum ShareLinkSchemes {
    /// True for a scheme (in small letters) of a share link that is known, whether or not it can be used.
    package static func contains(_ scheme: String) -> Bool {
        ShareLinks.known.contains(scheme) || ShareLinks.unsupported.contains(scheme)
    }
}

/// Reading share links.
enum ShareLinks {
    fileprivate static let known: Set<String> = [
        "ss", "vmess", "vless", "trojan", "hysteria2", "hy2", "hysteria", "hy", "tuic", "anytls", "socks", "socks5",
        "socks5h",
        "socks4", "socks4a", "socks+tls", "socks5+tls", "http", "https", "wireguard", "wg", "naive+https", "naive+quic",
    ]
    fileprivate static let unsupported: Set<String> = [
        "ssr", "mieru", "mierus", "juicity", "hysteria2+realm", "hy2+realm", "sudoku", "masque", "trusttunnel", "tt",
        "shadowquic", "brook", "snell", "ssh", "gost", "gost-relay", "tor", "openvpn", "tailscale",
    ]

    /// True for a line that starts with `scheme://`.
    static func isLink(_ line: String) -> Bool { LinkParts.scheme(of: line.trimmed) != nil }

    /// The entries of a list.
    /// - Throws: `too-large` for more lines than are accepted.
    static func entries(_ text: String) throws(SubscriptionError) -> [Entry] {
        var out: [Entry] = []
        var number = 0
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let trimmed = Substring(line).trimmed
            guard !trimmed.isEmpty, let content = content(trimmed) else { continue }
            out.append(Entry(content, "line \(number)"))
            guard out.count <= ClashDocument.maximumNodes else {
                throw SubscriptionError(.tooLarge, "The list holds more than \(ClashDocument.maximumNodes) links.")
            }
        }
        return out
    }

    private static func content(_ line: String) -> Entry.Content? {
        if line.hasPrefix("#") || line.hasPrefix("//") { return nil }
        for word in ["STATUS=", "REMARKS="] where line.hasPrefix(word) {
            let text = Names.cleaned(String(line.dropFirst(word.count)))
            return text.isEmpty ? nil : .note(text)
        }
        guard let parts = LinkParts(line) else {
            // `http:/x` was meant as a link; a plain sentence was not.
            guard let (scheme, rest) = line.cut(UInt8(ascii: ":")), rest.hasPrefix("/"),
                scheme.utf8.allSatisfy(\.isLetter),
                !scheme.isEmpty
            else { return nil }
            return .dropped(
                DroppedLine(name: "", type: Names.short(scheme.lowercased()), reason: .badLink, field: "scheme"))
        }
        let type = type(parts.scheme)
        if unsupported.contains(parts.scheme) {
            let name = parts.scheme == "ssr" ? shadowsocksRName(parts) : parts.fragment
            return .dropped(
                DroppedLine(
                    name: Names.cleaned(name), type: parts.scheme, reason: .unsupportedType, field: parts.scheme))
        }
        guard known.contains(parts.scheme) else { return nil }
        do throws(Fault) {
            guard var fields = try fields(parts) else { return nil }
            fields.set("type", type)
            if fields.node("name") == nil { fields.set("name", parts.fragment) }
            return .node(fields)
        } catch {
            let name = parts.scheme == "vmess" ? VMessLink.name(parts) : parts.fragment
            return .dropped(
                DroppedLine(name: Names.cleaned(name), type: type, reason: error.reason, field: error.field))
        }
    }

    private static func type(_ scheme: String) -> String {
        switch scheme {
        case "hy2": "hysteria2"
        case "hy": "hysteria"
        case "socks", "socks5h", "socks+tls", "socks5+tls": "socks5"
        case "socks4a": "socks4"
        case "https": "http"
        case "wg": "wireguard"
        case "naive+https", "naive+quic": "naive"
        default: scheme
        }
    }

    private static func fields(_ parts: LinkParts) throws(Fault) -> Fields? {
        switch parts.scheme {
        case "ss": try ShadowsocksLink.fields(parts)
        case "vmess": try VMessLink.fields(parts)
        case "vless": try VLESSLink.fields(parts)
        case "trojan": try TrojanLink.fields(parts)
        case "hysteria2", "hy2": try QUICLinks.hysteria2(parts)
        case "hysteria", "hy": try QUICLinks.hysteria(parts)
        case "tuic": try QUICLinks.tuic(parts)
        case "anytls": try PlainLinks.anytls(parts)
        case "socks4", "socks4a": throw Fault(.unsupportedFeature, "socks4")
        case "socks+tls", "socks5+tls": throw Fault(.unsupportedFeature, "socks5 over tls")
        case "socks", "socks5", "socks5h": try PlainLinks.socks(parts)
        case "http", "https": try PlainLinks.http(parts)
        case "wireguard", "wg": try PlainLinks.wireGuard(parts)
        default: try PlainLinks.naive(parts)
        }
    }

    /// The name inside a ShadowsocksR link, which is base64 in base64.
    private static func shadowsocksRName(_ parts: LinkParts) -> String {
        guard let text = Base64.decodeText(parts.body) else { return parts.fragment }
        for item in text.split(whereSeparator: { $0 == "?" || $0 == "&" }) where item.hasPrefix("remarks=") {
            return Base64.decodeText(String(item.dropFirst(8))) ?? parts.fragment
        }
        return parts.fragment
    }

    // MARK: Shared by the schemes

    /// Fields with the link's address.
    /// - Parameter standard: the port when the link has none; nil where one is required.
    static func addressed(_ parts: LinkParts, port standard: Int? = nil) throws(Fault) -> Fields {
        var fields = Fields()
        guard !parts.host.isEmpty else { throw .missing("server") }
        fields.set("server", parts.host)
        if parts.port.isEmpty {
            guard let standard else { throw .missing("port") }
            fields.set("port", String(standard))
        } else {
            fields.set("port", parts.port)
        }
        return fields
    }

    /// Writes the TLS options most schemes share.
    static func tls(_ parts: LinkParts, into fields: inout Fields) {
        fields.set("sni", parts.first("sni", "peer"))
        if parts.isOn("allowinsecure", "insecure", "skipcertverify") { fields.set("skip-cert-verify", flag: true) }
        fields.set("alpn", parts["alpn"])
        fields.set("client-fingerprint", parts["fp"])
        if let ech = parts["ech"] {
            // Either a configuration or the name to ask DNS about, optionally with a resolver after `+`.
            if Base64.decode(ech.utf8) != nil {
                fields.set("ech-opts", [("enable", .string("true")), ("config", .string(ech))])
            } else {
                let name = ech.cut(UInt8(ascii: "+"))?.before ?? ech[...]
                fields.set("ech-opts", [("enable", .string("true")), ("query-server-name", .string(String(name)))])
            }
        }
    }

    /// A user and password, plain or in base64.
    static func account(_ parts: LinkParts, into fields: inout Fields) {
        guard let raw = parts.userInfo, !raw.isEmpty else { return }
        var text = raw
        if !raw.utf8.contains(UInt8(ascii: ":")), let decoded = Base64.decodeText(raw), decoded.contains(":") {
            text = decoded
            let (user, password) = text.cut(UInt8(ascii: ":")) ?? (text[...], "")
            fields.set("username", String(user))
            fields.set("password", String(password))
            return
        }
        let (user, password) = text.cut(UInt8(ascii: ":")) ?? (text[...], "")
        fields.set("username", user.percentDecoded)
        fields.set("password", password.percentDecoded)
    }
}
