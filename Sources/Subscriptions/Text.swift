// Small helpers on texts and bytes that the standard library does not have.

import Notation

extension UInt8 {
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isLetter: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7A }
    var isSpace: Bool { self == 0x20 || (self >= 0x09 && self <= 0x0D) }
    /// A character of either base64 alphabet, or its padding.
    var isBase64: Bool { isLetter || isDigit || "+/-_=".utf8.contains(self) }
    var lowercase: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

extension StringProtocol where UTF8View: BidirectionalCollection {
    /// The text without ASCII white space at either end.
    var trimmed: String {
        let bytes = utf8
        guard let first = bytes.firstIndex(where: { !$0.isSpace }),
            let last = bytes.lastIndex(where: { !$0.isSpace })
        else { return "" }
        return String(self[first..<bytes.index(after: last)])
    }

    /// The parts before and after the first occurrence of an ASCII character; nil when it does not occur.
    func cut(_ separator: UInt8) -> (before: SubSequence, after: SubSequence)? {
        guard let at = utf8.firstIndex(of: separator) else { return nil }
        return (self[..<at], self[utf8.index(after: at)...])
    }

    /// The parts before and after the last occurrence of an ASCII character; nil when it does not occur.
    func cutLast(_ separator: UInt8) -> (before: SubSequence, after: SubSequence)? {
        guard let at = utf8.lastIndex(of: separator) else { return nil }
        return (self[..<at], self[utf8.index(after: at)...])
    }

    /// True for at least one character, all of them hexadecimal digits.
    var isHex: Bool { !utf8.isEmpty && utf8.allSatisfy { $0.hexValue != nil } }
}

extension Base64 {
    /// The text a base64 text stands for; nil when it is no base64 or its bytes are no UTF-8.
    static func decodeText(_ text: String) -> String? {
        guard let bytes = decode(text.percentDecoded.utf8), !bytes.isEmpty else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// True for a UUID in its usual form of 8-4-4-4-12 digits (RFC 9562, section 4).
func isUUID(_ text: String) -> Bool {
    var count = 0
    for byte in text.utf8 {
        switch count {
        case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
        case 36...: return false
        default: if byte.hexValue == nil { return false }
        }
        count += 1
    }
    return count == 36
}

/// True for an IPv4 or IPv6 address as text, without brackets; a zone after `%` is allowed.
func isAddress(_ text: String) -> Bool {
    let host = text.cut(UInt8(ascii: "%"))?.before ?? text[...]
    if host.utf8.contains(UInt8(ascii: ":")) {
        return host.utf8.allSatisfy { $0.hexValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4
        && parts.allSatisfy { part in
            part.utf8.count <= 3 && !part.isEmpty && part.utf8.allSatisfy(\.isDigit) && (Int(part) ?? 256) < 256
        }
}
