// Text made safe for a grid of cells: what terminals draw differently is replaced, the rest is cut and padded.

import Messages

/// What the terminal can draw.
package struct Glyphs: Hashable, Sendable {
    /// Characters beyond ASCII arrive as they are.
    package var unicode: Bool
    /// Flags are drawn from pairs of regional indicators; otherwise letters stand for them.
    package var flags: Bool
    /// The eighth blocks `▁▂▃▄▅▆▇` exist in the font (they do not in a Linux console's).
    package var blocks: Bool

    package init(unicode: Bool, flags: Bool, blocks: Bool) {
        self.unicode = unicode
        self.flags = unicode && flags
        self.blocks = unicode && blocks
    }

    /// A modern terminal emulator.
    package static let full = Glyphs(unicode: true, flags: true, blocks: true)
    /// ASCII only.
    package static let ascii = Glyphs(unicode: false, flags: false, blocks: false)
}

/// Settling, measuring, cutting and padding text for cells.
package enum TerminalText {
    /// A text that every terminal draws with the width `DisplayWidth.cells` says.
    ///
    /// Controls become spaces; format characters (bidirectional overrides among them) go; joined emoji are reduced to
    /// their first; skin tones, variation selectors, keycaps and tags go; more than four marks on a letter go.
    package static func settle(_ text: String, _ glyphs: Glyphs) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text }
        var settled = ""
        settled.reserveCapacity(text.utf8.count)
        for character in text { append(character, to: &settled, glyphs) }
        return settled
    }

    /// Cuts a settled text to at most `width` columns, ending in an ellipsis when something went.
    package static func cut(_ text: String, to width: Int, _ glyphs: Glyphs) -> String {
        if text.utf8.count <= width { return text }
        guard DisplayWidth.cells(text) > width else { return text }
        guard width > 0 else { return "" }
        var kept = String.UnicodeScalarView()
        var used = 0
        var flagOpen = false
        for scalar in text.unicodeScalars {
            let columns = DisplayWidth.of(scalar)
            if used + columns > width - 1 { break }
            kept.append(scalar)
            used += columns
            flagOpen = isRegionalIndicator(scalar) && !flagOpen
        }
        // Half a flag would pair up with whatever follows.
        if flagOpen { kept.removeLast() }
        return String(kept) + (glyphs.unicode ? "…" : "~")
    }

    /// A settled text with exactly `width` columns: cut, or filled with spaces on the right.
    package static func fit(_ text: String, to width: Int, _ glyphs: Glyphs) -> String {
        let text = cut(text, to: width, glyphs)
        return text + String(repeating: " ", count: max(0, width - DisplayWidth.cells(text)))
    }

    /// As `fit`, filled on the left.
    package static func right(_ text: String, to width: Int, _ glyphs: Glyphs) -> String {
        let text = cut(text, to: width, glyphs)
        return String(repeating: " ", count: max(0, width - DisplayWidth.cells(text))) + text
    }

    /// A settled text without its first columns; a wide character cut in two leaves a blank.
    package static func dropping(_ columns: Int, of text: String) -> String {
        guard columns > 0 else { return text }
        var left = columns
        var rest = text.unicodeScalars[...]
        while let first = rest.first, left > 0 || DisplayWidth.of(first) == 0 {
            left -= DisplayWidth.of(first)
            rest.removeFirst()
        }
        return (left < 0 ? " " : "") + String(rest)
    }

    /// Breaks a settled text into lines no wider than `width`, at spaces and between wide characters.
    package static func wrap(_ text: String, to width: Int) -> [String] {
        DisplayWidth.wrapped(text, to: width, measure: DisplayWidth.cells)
    }

    private static func append(_ character: Character, to settled: inout String, _ glyphs: Glyphs) {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return }
        if first.value < 0x20 || (0x7f..<0xa0).contains(first.value) {
            settled.append(" ")
        } else if isRegionalIndicator(first) {
            let pair = scalars.filter(isRegionalIndicator)
            if glyphs.flags, pair.count == 2 {
                settled.unicodeScalars.append(contentsOf: pair)
            } else {
                for scalar in pair { settled.append(letter(of: scalar)) }
            }
        } else if !glyphs.unicode {
            guard !first.isASCII else { return settled.unicodeScalars.append(first) }
            settled.append(
                plain[first] ?? String(repeating: "?", count: kept(scalars).reduce(0) { $0 + DisplayWidth.of($1) }))
        } else {
            settled.unicodeScalars.append(contentsOf: kept(scalars))
        }
    }

    private static func kept(_ scalars: String.UnicodeScalarView) -> [Unicode.Scalar] {
        var kept: [Unicode.Scalar] = []
        var marks = 0
        for scalar in scalars {
            if scalar == "\u{200d}" { break }
            if scalar.properties.generalCategory == .format || isDecoration(scalar, after: kept.first) { continue }
            if DisplayWidth.of(scalar) == 0 {
                // A mark with nothing to stand on would join the character before.
                if kept.isEmpty || marks == 4 { continue }
                marks += 1
            }
            kept.append(scalar)
        }
        return kept
    }

    private static func isDecoration(_ scalar: Unicode.Scalar, after first: Unicode.Scalar?) -> Bool {
        switch scalar.value {
        case 0xfe00...0xfe0f, 0x20e3, 0xe0100...0xe01ef: true
        case 0x1f3fb...0x1f3ff: first != nil
        default: false
        }
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1f1e6...0x1f1ff).contains(scalar.value)
    }

    private static func letter(of indicator: Unicode.Scalar) -> Character {
        Character(Unicode.Scalar(UInt8(indicator.value - 0x1f1e6) + 65))
    }

    private static let plain: [Unicode.Scalar: String] = [
        "…": ".", "·": "-", "•": "*", "—": "-", "–": "-", "×": "x", "→": ">", "←": "<", "↑": "^", "↓": "v",
        "“": "\"", "”": "\"", "‘": "'", "’": "'", "，": ", ", "。": ". ", "（": " (", "）": ") ", "｜": "| ",
        "：": ": ", "【": " [", "】": "] ", "　": "  ",
    ]
}
