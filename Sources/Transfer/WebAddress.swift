// Reading web addresses with libcurl's own parser, so that what is checked is what is later fetched.

import CCurl
import Notation

/// The parts of an address. Corresponds to curl_url_get(3).
package struct WebAddress: Hashable, Sendable {
    /// In lower case.
    package let scheme: String
    /// As written, an IPv6 address in brackets.
    package let host: String
    /// nil for the scheme's own.
    package let port: Int?
    /// Percent-encoded, beginning with `/`.
    package let path: String
    /// Percent-encoded, without the `?`; nil when absent.
    package let query: String?
    /// Percent-encoded, without the `#`; nil when absent.
    package let fragment: String?

    /// Reads an address of any scheme; nil when it is none.
    package init?(_ text: String) {
        // libcurl forgives one slash and three; what it then takes for the host is a path, and with it a credential.
        guard let slashes = text.firstRange(of: "://"), text[slashes.upperBound...].first != "/",
            let handle = curl_url()
        else { return nil }
        defer { curl_url_cleanup(handle) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
        guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK else { return nil }
        func part(_ name: CURLUPart) -> String? {
            var pointer: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, name, &pointer, 0) == CURLUE_OK, let pointer else { return nil }
            defer { curl_free(pointer) }
            return String(cString: pointer)
        }
        guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST), !host.isEmpty else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host
        port = part(CURLUPART_PORT).flatMap { Int($0) }
        path = part(CURLUPART_PATH) ?? "/"
        query = part(CURLUPART_QUERY)
        fragment = part(CURLUPART_FRAGMENT)
    }

    /// What may be shown of the address: `host/…`.
    package var shown: String { "\(host)/…" }

    /// The value of a query field, percent-decoded once; nil when absent. `+` stays `+`.
    package func queryValue(_ name: String) -> String? {
        for field in (query ?? "").split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count > 1 ? parts[1].percentDecoded : "" }
        }
        return nil
    }

    /// Encodes everything but unreserved characters (RFC 3986, 2.3), for one path segment or query value.
    package static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
