// Base64 (RFC 4648, section 4), which the clipboard's escape sequence wants.

/// Encoding only.
package enum Base64 {
    /// The text for these bytes, padded.
    package static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var value = 0
            for place in 0..<3 { value = value << 8 | (place < group.count ? Int(group[start + place]) : 0) }
            for place in 0..<4 {
                text.append(place <= group.count ? digits[value >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
