// A square of dark and light modules (a QR code) as rows of characters.

/// Dark and light modules, drawn so that a camera reads them off a terminal.
package struct ModuleGrid: Hashable, Sendable {
    /// How modules become characters.
    package enum Drawing: Hashable, Sendable {
        /// Two modules in a cell, one above the other: `▀`, `▄`, `█`.
        case halfBlocks
        /// A module in two cells side by side, nothing but blanks: for terminals that know ASCII only.
        case blanks
    }

    /// Characters in one pair of colours.
    package struct Piece: Hashable, Sendable {
        /// What is drawn.
        package let text: String
        /// White on black; otherwise black on white.
        package let isInverted: Bool
    }

    /// Modules in a row, and rows of modules.
    package let side: Int
    private let dark: [Bool]
    /// The light modules around it that ISO/IEC 18004 asks for, and the fewest that cameras are content with.
    private static let margins = (wanted: 4, least: 2)

    /// - Parameter dark: row by row, `side` times `side` of them.
    package init(side: Int, dark: [Bool]) {
        precondition(side > 0 && dark.count == side * side)
        self.side = side
        self.dark = dark
    }

    /// True for a dark module. What is outside is light.
    package func isDark(row: Int, column: Int) -> Bool {
        guard (0..<side).contains(row), (0..<side).contains(column) else { return false }
        return dark[row * side + column]
    }

    /// The cells it takes with the margin it should have.
    package func cells(_ drawing: Drawing) -> (columns: Int, rows: Int) { cells(drawing, Self.margins.wanted) }

    private func cells(_ drawing: Drawing, _ margin: Int) -> (columns: Int, rows: Int) {
        let whole = side + 2 * margin
        return drawing == .halfBlocks ? (whole, (whole + 1) / 2) : (whole * 2, whole)
    }

    /// The rows to draw, with as much margin as there is room for.
    /// - Parameters:
    ///   - columns: cells there are.
    ///   - rows: cells there are; nil when they do not matter.
    /// - Returns: nil when there is no room.
    package func drawn(_ drawing: Drawing, columns: Int, rows: Int? = nil) -> [[Piece]]? {
        for margin in stride(from: Self.margins.wanted, through: Self.margins.least, by: -1) {
            let needed = cells(drawing, margin)
            if needed.columns <= columns, needed.rows <= rows ?? needed.rows { return pieces(drawing, margin) }
        }
        return nil
    }

    private func pieces(_ drawing: Drawing, _ margin: Int) -> [[Piece]] {
        let whole = -margin..<side + margin
        switch drawing {
        case .halfBlocks:
            return stride(from: whole.lowerBound, to: whole.upperBound, by: 2).map { row in
                var text = ""
                for column in whole {
                    switch (isDark(row: row, column: column), isDark(row: row + 1, column: column)) {
                    case (true, true): text += "█"
                    case (true, false): text += "▀"
                    case (false, true): text += "▄"
                    case (false, false): text += " "
                    }
                }
                return [Piece(text: text, isInverted: false)]
            }
        case .blanks:
            return whole.map { row in
                var pieces: [Piece] = []
                for column in whole {
                    let isDark = isDark(row: row, column: column)
                    if let last = pieces.last, last.isInverted == isDark {
                        pieces[pieces.count - 1] = Piece(text: last.text + "  ", isInverted: isDark)
                    } else {
                        pieces.append(Piece(text: "  ", isInverted: isDark))
                    }
                }
                return pieces
            }
        }
    }

    /// Rows for a terminal that is written to as it is, each with the colours it needs and no more: black and white of the
    /// 256 colours, which themes leave alone, so that it reads the same on dark and light.
    package static func escaped(_ rows: [[Piece]]) -> [String] {
        rows.map { pieces in
            pieces.map { "\u{1b}[" + ($0.isInverted ? "38;5;231;48;5;16m" : "38;5;16;48;5;231m") + $0.text }.joined()
                + "\u{1b}[0m"
        }
    }
}
