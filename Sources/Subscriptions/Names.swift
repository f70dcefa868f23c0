// Names as people see them and tags as the engine needs them (`mapping.md` 6).

/// Cleaning names and making tags unique.
package enum Names {
    /// How many code points a name keeps.
    private static let limit = 128
    /// How many code points of a raw name are looked at; what comes after could not be kept anyway.
    private static let rawLimit = 384

    /// A name in NFC, without control, zero-width and direction characters, with single spaces and at most 128 code
    /// points. Joiners and variation selectors stay: emoji families and flags are made of them.
    package static func cleaned(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        var count = 0
        var space = false
        for scalar in Composition.composed(start(of: text)).unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x20, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
                space = count > 0
            case 0...0x1F, 0x7F...0x9F, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x2064, 0x2066...0x2069,
                0xFEFF:
                break
            default:
                if space {
                    guard count + 1 < limit else { return String(out) }
                    out.append(" ")
                    count += 1
                    space = false
                }
                guard count < limit else { return String(out) }
                out.append(scalar)
                count += 1
            }
        }
        return String(out)
    }

    private static func start(of text: String) -> String {
        guard text.utf8.count > rawLimit else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(rawLimit)))
    }

    /// A word of the input short enough for a report.
    static func short(_ text: String) -> String {
        let clean = cleaned(text)
        return clean.unicodeScalars.count <= 40
            ? clean : String(String.UnicodeScalarView(clean.unicodeScalars.prefix(40)))
    }
}

/// Hands out unique tags in profile order.
struct TagMaker {
    /// Words our own profile uses as tags, in lower case.
    private static let reserved: Set<String> = [
        "auto", "proxy", "direct", "block", "dns", "global", "select", "reject",
    ]

    private var used: Set<String> = []
    private var next: [String: Int] = [:]

    /// The name itself where it is free, else the name with ` #2`, ` #3` …
    mutating func tag(for name: String) -> String {
        if !used.contains(name), name.utf8.count > 6 || !Self.reserved.contains(name.lowercased()) { return take(name) }
        var number = next[name] ?? 2
        while used.contains("\(name) #\(number)") { number += 1 }
        next[name] = number + 1
        return take("\(name) #\(number)")
    }

    /// Marks a tag as used.
    @discardableResult
    mutating func take(_ tag: String) -> String {
        used.insert(tag)
        return tag
    }
}
