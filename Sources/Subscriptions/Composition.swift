// Canonical composition (NFC) for the scripts that names are written in.

/// Normalisation form C without Foundation and without the standard library's private interfaces.
///
/// `String` compares by canonical equivalence, so a dictionary that holds each precomposed character of a script under
/// itself finds it when asked for base and mark. Covered are Latin, Greek, Cyrillic, kana, mathematical signs and
/// Hangul (by arithmetic); what lies outside stays as it was written, which is a name all the same.
enum Composition {
    private static let ranges: [ClosedRange<UInt32>] = [
        0xC0...0x24F, 0x370...0x52F, 0x622...0x6D3, 0x1E00...0x1FFF, 0x2190...0x22FF, 0x3040...0x30FF,
    ]

    private static let composites: [String: Unicode.Scalar] = {
        var table: [String: Unicode.Scalar] = [:]
        for range in ranges {
            for value in range {
                guard let scalar = Unicode.Scalar(value) else { continue }
                let key = String(scalar)
                if table[key] == nil { table[key] = scalar }
            }
        }
        return table
    }()

    static func composed(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: needsWork) else { return text }
        var out = String.UnicodeScalarView()
        for character in text {
            let scalars = Array(character.unicodeScalars)
            if scalars.count == 1 || scalars.count > 64 {
                out.append(contentsOf: scalars.map(single))
            } else {
                out.append(contentsOf: compose(scalars))
            }
        }
        return String(out)
    }

    private static func needsWork(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x300: false
        case 0x2126, 0x212A, 0x212B, 0x1161...0x11FF: true
        default: scalar.properties.canonicalCombiningClass != .notReordered
        }
    }

    /// Three signs that are only other codes for letters.
    private static func single(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x2126: "\u{3A9}"
        case 0x212A: "K"
        case 0x212B: "\u{C5}"
        default: scalar
        }
    }

    /// The canonical composition algorithm (Unicode 15, section 3.11) over one character.
    private static func compose(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var ordered = scalars.map(single)
        order(&ordered)
        var out: [Unicode.Scalar] = []
        var starter: Int?
        var lastClass: UInt8 = 0
        for scalar in ordered {
            let ccc = scalar.properties.canonicalCombiningClass.rawValue
            if let starter {
                let isAdjacent = starter == out.count - 1
                if isAdjacent || (lastClass < ccc && lastClass != 0), let joined = join(out[starter], scalar) {
                    out[starter] = joined
                    continue
                }
            }
            if ccc == 0 { starter = out.count }
            lastClass = ccc
            out.append(scalar)
        }
        return out
    }

    /// Sorts runs of marks by their class, keeping the order of equals.
    private static func order(_ scalars: inout [Unicode.Scalar]) {
        for at in scalars.indices.dropFirst() {
            var place = at
            while place > 0 {
                let ccc = scalars[place].properties.canonicalCombiningClass
                let before = scalars[place - 1].properties.canonicalCombiningClass
                guard ccc != .notReordered, before > ccc else { break }
                scalars.swapAt(place, place - 1)
                place -= 1
            }
        }
    }

    private static func join(_ base: Unicode.Scalar, _ mark: Unicode.Scalar) -> Unicode.Scalar? {
        if (0x1100...0x1112).contains(base.value), (0x1161...0x1175).contains(mark.value) {
            return Unicode.Scalar(0xAC00 + ((base.value - 0x1100) * 21 + mark.value - 0x1161) * 28)
        }
        if (0xAC00...0xD7A3).contains(base.value), (base.value - 0xAC00) % 28 == 0,
            (0x11A8...0x11C2).contains(mark.value)
        {
            return Unicode.Scalar(base.value + mark.value - 0x11A7)
        }
        guard mark.properties.canonicalCombiningClass != .notReordered else { return nil }
        var pair = String.UnicodeScalarView()
        pair.append(base)
        pair.append(mark)
        return composites[String(pair)]
    }
}
