// The address strings that DNS servers had before 1.12, read into the fields they have now.

import JSON

/// What an old `address` says.
enum DNSServerAddress: Equatable {
    case local
    case fakeip
    /// The interface; nil for the default one.
    case dhcp(interface: String?)
    case rcode(String)
    /// A server to ask: type, host, and port and path where they are not the usual ones.
    case remote(type: String, host: String, port: Int?, path: String?)

    private static let usualPorts = ["udp": 53, "tcp": 53, "tls": 853, "quic": 853, "https": 443, "h3": 443]

    /// - Returns: nil for a scheme no version knew, or an address without a host.
    init?(_ text: String) {
        switch text.lowercased() {
        case "local": self = .local
        case "fakeip": self = .fakeip
        default:
            let parts = Self.split(text)
            switch parts.scheme {
            case "rcode": self = .rcode(parts.rest.lowercased())
            case "dhcp":
                let name = parts.rest.prefix { $0 != "/" && $0 != "?" }
                self = .dhcp(interface: name.isEmpty || name.lowercased() == "auto" ? nil : String(name))
            default:
                guard let remote = Self.remote(parts.scheme, parts.rest) else { return nil }
                self = remote
            }
        }
    }

    private static func split(_ text: String) -> (scheme: String, rest: String) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return ("udp", text) }
        return (text[..<colon].lowercased(), String(text[text.index(colon, offsetBy: 3)...]))
    }

    private static func remote(_ scheme: String, _ rest: String) -> DNSServerAddress? {
        guard let usual = usualPorts[scheme] else { return nil }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = hostAndPort(String(authority)) else { return nil }
        var path: String?
        if scheme == "https" || scheme == "h3" {
            let written = rest[authority.endIndex...].prefix { $0 != "?" && $0 != "#" }
            if !written.isEmpty, written != "/dns-query" { path = String(written) }
        }
        return .remote(type: scheme, host: host, port: port == usual ? nil : port, path: path)
    }

    private static func hostAndPort(_ text: String) -> (String, Int?)? {
        var host = text
        var port: Int?
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            host = String(text[text.index(after: text.startIndex)..<close])
            let tail = text[text.index(after: close)...]
            if !tail.isEmpty {
                guard tail.hasPrefix(":"), let number = UInt16(tail.dropFirst()), number > 0 else { return nil }
                port = Int(number)
            }
        } else if let colon = text.firstIndex(of: ":"), text[text.index(after: colon)...].firstIndex(of: ":") == nil {
            host = String(text[..<colon])
            guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
            port = Int(number)
        }
        return host.isEmpty ? nil : (host, port)
    }
}
