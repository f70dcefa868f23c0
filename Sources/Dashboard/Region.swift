// The country or region a line's name speaks of: by a flag, by its name, or by a code standing alone.

/// An ISO 3166-1 alpha-2 code.
package struct Region: Hashable, Sendable {
    /// Two capital letters.
    package let code: String

    package init(code: String) { self.code = code }

    /// The flag: two regional indicators.
    package var flag: String {
        var scalars = String.UnicodeScalarView()
        for byte in code.utf8 {
            if let scalar = Unicode.Scalar(0x1f1e6 + UInt32(byte) - 65) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    /// Reads a region out of a line's name: the first flag wins, then the first known name, then a code in capitals that
    /// is not part of a word. Nil when nothing is certain.
    package init?(in name: String) {
        if let code = Self.flagCode(in: name) ?? Self.namedCode(in: name) ?? Self.bareCode(in: name) {
            self.code = code
        } else {
            return nil
        }
    }

    /// The name without a flag at its beginning, which the flag's column shows already.
    package static func withoutFlag(_ name: String) -> String {
        guard let first = name.first, code(ofFlag: first) != nil else { return name }
        let rest = name.dropFirst().drop { $0 == " " || $0 == "\u{3000}" }
        return rest.isEmpty ? name : String(rest)
    }

    private static func code(ofFlag character: Character) -> String? {
        let scalars = Array(character.unicodeScalars)
        guard scalars.count == 2, scalars.allSatisfy({ (0x1f1e6...0x1f1ff).contains($0.value) }) else { return nil }
        return String(scalars.map { Character(Unicode.Scalar(UInt8($0.value - 0x1f1e6) + 65)) })
    }

    private static func flagCode(in name: String) -> String? {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
        return name.lazy.compactMap { code(ofFlag: $0) }.first
    }

    private static func namedCode(in name: String) -> String? {
        let bytes = Array(name.lowercased().utf8)
        var best: (place: Int, length: Int, code: String)?
        for entry in RegionNames.all {
            guard let place = find(entry.name, in: bytes, wholeWord: entry.isLatin) else { continue }
            let length = entry.name.count
            if let known = best, (known.place, -known.length) <= (place, -length) { continue }
            best = (place, length, entry.code)
        }
        return best?.code
    }

    private static func bareCode(in name: String) -> String? {
        let bytes = Array(name.utf8)
        var start = 0
        while start < bytes.count {
            guard isLetter(bytes[start]) else {
                start += 1
                continue
            }
            var end = start
            while end < bytes.count, isLetter(bytes[end]) { end += 1 }
            if end - start == 2 || end - start == 3 {
                let word = String(decoding: bytes[start..<end], as: UTF8.self)
                if let code = RegionNames.codes[word] { return code }
            }
            start = end
        }
        return nil
    }

    private static func find(_ needle: [UInt8], in bytes: [UInt8], wholeWord: Bool) -> Int? {
        guard bytes.count >= needle.count else { return nil }
        for start in 0...(bytes.count - needle.count) where bytes[start] == needle[0] {
            let end = start + needle.count
            guard bytes[start..<end].elementsEqual(needle) else { continue }
            if !wholeWord { return start }
            if (start == 0 || !isLetter(bytes[start - 1])) && (end == bytes.count || !isLetter(bytes[end])) {
                return start
            }
        }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
