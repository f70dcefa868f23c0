// A name made plain for looking words and numbers up in it.

/// A name with the compatibility characters that occur in names replaced by their plain form (the part of NFKC that
/// matters: full-width and mathematical letters, superscripts, circled digits, odd spaces), ASCII in lower case, and
/// the traditional characters of our words as simplified ones.
struct FoldedText {
    let scalars: [UInt32]

    init(_ text: String) {
        var out: [UInt32] = []
        out.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            let plain = scalar.value < 0x80 ? scalar.value : Self.plain(scalar.value)
            out.append(plain >= 0x41 && plain <= 0x5A ? plain | 0x20 : plain)
        }
        scalars = out
    }

    private static let simplified: [UInt32: UInt32] = {
        let pairs = "餘余網网過过時时間间訂订閱阅導导頻频發发頁页聯联電电報报單单請请選选連连碼码戶户帳账賬账總总雙双兩两費费續续載载擇择換换"
        let scalars = pairs.unicodeScalars.map(\.value)
        var table: [UInt32: UInt32] = [:]
        for at in stride(from: 0, to: scalars.count - 1, by: 2) { table[scalars[at]] = scalars[at + 1] }
        return table
    }()

    private static func plain(_ value: UInt32) -> UInt32 {
        switch value {
        case 0xA0, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: 0x20
        case 0xB2, 0xB3: value - 0xB2 + 0x32
        case 0xB9: 0x31
        case 0x2070, 0x2074...0x2079: value - 0x2070 + 0x30
        case 0x2080...0x2089: value - 0x2080 + 0x30
        case 0x2E3, 0x2169, 0x2179: 0x78
        case 0x2460...0x2468: value - 0x2460 + 0x31
        case 0x1D400...0x1D6A3: (value - 0x1D400) % 26 + 0x61
        case 0x1D7CE...0x1D7FF: (value - 0x1D7CE) % 10 + 0x30
        case 0xFE55, 0xFE13: 0x3A
        case 0xFE52: 0x2E
        case 0xFF01...0xFF5E: value - 0xFEE0
        case 0x4E00...0x9FFF: simplified[value] ?? value
        default: value
        }
    }

    /// True when the text at this place starts with these scalars.
    func has(_ word: [UInt32], at: Int) -> Bool {
        guard at >= 0, at + word.count <= scalars.count else { return false }
        for offset in word.indices where scalars[at + offset] != word[offset] { return false }
        return true
    }

    /// The scalar at a place; 0 outside.
    func scalar(_ at: Int) -> UInt32 { scalars.indices.contains(at) ? scalars[at] : 0 }

    /// The first place from here on that is no space.
    func skipSpaces(_ at: Int) -> Int {
        var at = at
        while scalar(at) == 0x20 { at += 1 }
        return at
    }

    func isDigit(_ at: Int) -> Bool { (0x30...0x39).contains(scalar(at)) }

    /// An ASCII letter or a letter of the Latin supplements.
    func isLetter(_ at: Int) -> Bool {
        let value = scalar(at)
        return (0x61...0x7A).contains(value) || (0xC0...0x24F).contains(value) && value != 0xD7 && value != 0xF7
    }
}

/// The scalars of a word, for `FoldedText.has`.
func scalars(_ word: String) -> [UInt32] { word.unicodeScalars.map(\.value) }
