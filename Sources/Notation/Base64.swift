// Base64 in every dialect that is met: either alphabet, padded or not, percent-encoded padding, broken into lines.

/// Reading and writing base64 (RFC 4648, sections 4 and 5).
package enum Base64 {
    /// The bytes a text stands for; nil when it holds anything but base64 and white space, or has an impossible length.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var out: [UInt8] = []
        out.reserveCapacity(text.underestimatedCount / 4 &* 3)
        var bits: UInt32 = 0
        var count = 0
        var padding = 0
        for byte in text {
            let value: UInt8
            switch byte {
            case 0x41...0x5A: value = byte - 0x41
            case 0x61...0x7A: value = byte - 0x61 + 26
            case 0x30...0x39: value = byte - 0x30 + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
            case UInt8(ascii: "="):
                padding += 1
                continue
            case 0x20, 0x09, 0x0A, 0x0D: continue
            default: return nil
            }
            guard padding == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count == 4 {
                out.append(UInt8(truncatingIfNeeded: bits >> 16))
                out.append(UInt8(truncatingIfNeeded: bits >> 8))
                out.append(UInt8(truncatingIfNeeded: bits))
                bits = 0
                count = 0
            }
        }
        switch count {
        case 0: break
        case 2: out.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3:
            out.append(UInt8(truncatingIfNeeded: bits >> 10))
            out.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: return nil
        }
        return padding > 3 ? nil : out
    }

    /// Base64 of some bytes.
    /// - Parameter url: with the alphabet for addresses and without padding; else the standard one, padded.
    package static func encode(_ bytes: [UInt8], url: Bool = false) -> String {
        let alphabet =
            Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
            + Array((url ? "-_" : "+/").utf8)
        var out: [UInt8] = []
        var at = 0
        while at < bytes.count {
            let left = min(3, bytes.count - at)
            var bits: UInt32 = 0
            for offset in 0..<3 { bits = bits << 8 | (offset < left ? UInt32(bytes[at + offset]) : 0) }
            for place in 0..<4 {
                if place <= left {
                    out.append(alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)])
                } else if !url {
                    out.append(UInt8(ascii: "="))
                }
            }
            at += 3
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The same bytes in standard, padded base64, provided there are exactly that many of them; else nil.
    package static func repaired(_ text: String, bytes count: Int, url: Bool = false) -> String? {
        guard let bytes = decode(text.utf8), bytes.count == count else { return nil }
        return encode(bytes, url: url)
    }
}
