// Making a text fit for libyaml: what the format forbids but providers send is taken out first.

/// The cleaning that happens before parsing.
package enum YAMLText {
    /// The text without byte-order marks, without control characters other than tab, line feed and carriage return, and
    /// with everything that is not UTF-8 replaced by U+FFFD. libyaml refuses a whole document for one such character
    /// (YAML 1.2, section 5.1). Line numbers do not change.
    package static func cleaned(_ bytes: [UInt8]) -> [UInt8] {
        guard let first = bytes.withUnsafeBufferPointer({ firstFlaw($0) }) else { return bytes }
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        out.append(contentsOf: bytes[..<first])
        bytes.withUnsafeBufferPointer { buffer in
            var at = first
            while at < buffer.count {
                let byte = buffer[at]
                if byte < 0x80 {
                    if !needsCare(byte) { out.append(byte) }
                    at += 1
                    continue
                }
                let length = sequenceLength(buffer, at)
                if length == 0 {
                    out.append(contentsOf: [0xEF, 0xBF, 0xBD])
                    at += 1
                } else {
                    if isAllowed(buffer, at) { out.append(contentsOf: buffer[at..<at + length]) }
                    at += length
                }
            }
        }
        return out
    }

    /// The first place where something has to go; nil when the text is clean as it is, which is the usual case.
    private static func firstFlaw(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var at = 0
        while at < bytes.count {
            if !needsCare(bytes[at]) {
                at += 1
                continue
            }
            guard bytes[at] >= 0x80 else { return at }
            let length = sequenceLength(bytes, at)
            guard length > 0, isAllowed(bytes, at) else { return at }
            at += length
        }
        return nil
    }

    private static func needsCare(_ byte: UInt8) -> Bool {
        byte >= 0x7F || (byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D)
    }

    /// The length of the well-formed UTF-8 sequence at this place; 0 when there is none (Unicode 15, table 3-7).
    private static func sequenceLength(_ bytes: UnsafeBufferPointer<UInt8>, _ at: Int) -> Int {
        func follows(_ offset: Int, _ low: UInt8 = 0x80, _ high: UInt8 = 0xBF) -> Bool {
            at + offset < bytes.count && bytes[at + offset] >= low && bytes[at + offset] <= high
        }
        switch bytes[at] {
        case 0xC2...0xDF: return follows(1) ? 2 : 0
        case 0xE0: return follows(1, 0xA0) && follows(2) ? 3 : 0
        case 0xED: return follows(1, 0x80, 0x9F) && follows(2) ? 3 : 0
        case 0xE1...0xEF: return follows(1) && follows(2) ? 3 : 0
        case 0xF0: return follows(1, 0x90) && follows(2) && follows(3) ? 4 : 0
        case 0xF1...0xF3: return follows(1) && follows(2) && follows(3) ? 4 : 0
        case 0xF4: return follows(1, 0x80, 0x8F) && follows(2) && follows(3) ? 4 : 0
        default: return 0
        }
    }

    /// False for C1 controls but next line, for the byte-order mark and for the two non-characters U+FFFE and U+FFFF.
    private static func isAllowed(_ bytes: UnsafeBufferPointer<UInt8>, _ at: Int) -> Bool {
        switch bytes[at] {
        case 0xC2: bytes[at + 1] >= 0xA0 || bytes[at + 1] == 0x85
        case 0xEF:
            !(bytes[at + 1] == 0xBB && bytes[at + 2] == 0xBF) && !(bytes[at + 1] == 0xBF && bytes[at + 2] >= 0xBE)
        default: true
        }
    }
}
