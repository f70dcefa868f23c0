// How many terminal columns a text takes, so that tables stay aligned under CJK names and emoji flags.

/// Widths in terminal columns. Source: Unicode Standard Annex #11 (East Asian Width) and the emoji properties of UTS #51.
package enum DisplayWidth {
    /// The columns a text takes on one line; control characters count nothing.
    package static func of(_ text: String) -> Int {
        var isASCII = true
        var printable = 0
        for byte in text.utf8 {
            if byte >= 0x80 {
                isASCII = false
                break
            }
            if byte >= 0x20, byte != 0x7f { printable += 1 }
        }
        return isASCII ? printable : text.reduce(0) { $0 + of($1) }
    }

    /// The columns one character (grapheme cluster) takes: 0, 1 or 2.
    package static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        // A flag is two regional indicators; a lone one is drawn narrow by most terminals.
        if isRegionalIndicator(first) { return scalars.count > 1 ? 2 : 1 }
        if scalars.contains("\u{fe0f}") { return 2 }
        return of(first)
    }

    /// Fills a text with spaces on the right up to a width; a text already as wide is returned as it is.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - of(text)))
    }

    /// Fills a text with spaces on the left up to a width.
    package static func aligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - of(text))) + text
    }

    /// Cuts a text to a width, ending it with `…` when something had to go.
    package static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        guard width > 0 else { return "" }
        var kept = ""
        var used = 0
        for character in text {
            let columns = of(character)
            if used + columns > width - 1 { break }
            kept.append(character)
            used += columns
        }
        return kept + "…"
    }

    /// Cuts a text to a width in its middle, where a `…` stands then: of `host:port` both ends tell something, the last one more.
    package static func cutInside(_ text: String, to width: Int) -> String {
        guard of(text) > width, width > 2 else { return cut(text, to: width) }
        let head = cut(text, to: width / 3)
        var room = width - of(head)
        var tail: [Character] = []
        for character in text.reversed() {
            room -= of(character)
            if room < 0 { break }
            tail.append(character)
        }
        return head + String(tail.reversed())
    }

    /// Breaks a text into lines no wider than `width`, at spaces and between wide characters.
    /// - Parameter measure: the columns of a piece.
    package static func wrapped(
        _ text: String, to width: Int, measure: (String) -> Int = { DisplayWidth.of($0) }
    ) -> [String] {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            var used = 0
            for piece in pieces(of: paragraph) {
                let columns = measure(piece)
                if used > 0, used + measure(trimmed(piece)) > width {
                    lines.append(trimmed(line))
                    line = ""
                    used = 0
                }
                line += piece
                used += columns
            }
            lines.append(trimmed(line))
        }
        return lines
    }

    /// Unbreakable pieces, each with the spaces that follow it. Punctuation of CJK text stays with what precedes it.
    private static func pieces(of text: Substring) -> [String] {
        var pieces: [String] = []
        var current = ""
        var previousAllowsBreak = false
        for character in text {
            let isWide = of(character) == 2
            let closes = "，。；：、！？）》”".contains(character)
            if !current.isEmpty, !closes, character != " ", previousAllowsBreak || isWide {
                pieces.append(current)
                current = ""
            }
            current.append(character)
            previousAllowsBreak = character == " " || (isWide && !"（《“".contains(character))
        }
        if !current.isEmpty { pieces.append(current) }
        return pieces
    }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }

    static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1f1e6...0x1f1ff).contains(scalar.value)
    }
}
