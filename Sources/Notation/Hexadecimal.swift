// Hexadecimal digits, and the percent-encoding made of them.

extension UInt8 {
    /// The value of a hexadecimal digit in ASCII; nil for any other byte.
    package var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}

/// Bytes as lower-case hexadecimal digits, two a byte.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

extension StringProtocol {
    /// The text with every `%XX` decoded once (RFC 3986, section 2.1); a stray `%` stays, and what is not UTF-8 afterwards
    /// becomes U+FFFD.
    package var percentDecoded: String {
        guard utf8.contains(UInt8(ascii: "%")) else { return String(self) }
        let bytes = Array(utf8)
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        var at = 0
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "%"), at + 2 < bytes.count, let high = bytes[at + 1].hexValue,
                let low = bytes[at + 2].hexValue
            {
                out.append(high << 4 | low)
                at += 3
            } else {
                out.append(bytes[at])
                at += 1
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
