// What a screen shows: rows of styled text, where the cursor stands, and what a click on a place means.

import Messages

/// Rows and columns of a terminal.
package struct Size: Hashable, Sendable {
    /// Cells in a row.
    package var columns: Int
    /// Rows of cells.
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// What a piece of text means; a colour where there are colours, attributes where there are none.
package enum Tone: UInt8, Sendable, CaseIterable {
    case plain, faint, good, fair, bad, accent
    /// Black on white in any theme: what a camera is to read.
    case printed
}

/// How a piece of text is drawn.
package struct Style: Hashable, Sendable {
    /// What the colour says.
    package var tone: Tone
    /// Drawn bold.
    package var bold = false
    /// Drawn with front and back exchanged.
    package var reversed = false

    package init(_ tone: Tone = .plain, bold: Bool = false, reversed: Bool = false) {
        self.tone = tone
        self.bold = bold
        self.reversed = reversed
    }

    /// The same in the row under the cursor, which is one bar: a colour would be the bar's, in patches.
    var underCursor: Style { Style(bold: bold, reversed: true) }

    /// As the terminal draws by itself.
    package static let plain = Style()
    /// For what is less important.
    package static let faint = Style(.faint)
}

/// Text in one style; settled, so its width is known.
package struct Span: Hashable, Sendable {
    /// Settled text (`TerminalText.settle`).
    package let text: String
    /// How it is drawn.
    package let style: Style
    /// Columns.
    package let width: Int
}

/// One row, no wider than the frame. What is right of it is blank.
package struct Row: Hashable, Sendable {
    /// The pieces, from the left.
    package private(set) var spans: [Span] = []
    /// Columns used so far.
    package private(set) var width = 0
    private let limit: Int
    private let glyphs: Glyphs

    /// An empty row of at most `limit` columns.
    package init(limit: Int, _ glyphs: Glyphs) {
        self.limit = limit
        self.glyphs = glyphs
    }

    /// Columns left.
    package var room: Int { limit - width }

    /// Adds a text as far as it fits; the last thing that fits ends in an ellipsis.
    package mutating func add(_ text: String, _ style: Style = .plain) {
        let fitted = TerminalText.cut(TerminalText.settle(text, glyphs), to: room, glyphs)
        guard !fitted.isEmpty else { return }
        let columns = DisplayWidth.cells(fitted)
        spans.append(Span(text: fitted, style: style, width: columns))
        width += columns
    }

    /// Adds a text in a field of fixed width, to the left or the right of it.
    package mutating func add(_ text: String, _ style: Style = .plain, field: Int, rightAligned: Bool = false) {
        let settled = TerminalText.settle(text, glyphs)
        let field = min(field, room)
        add(
            rightAligned
                ? TerminalText.right(settled, to: field, glyphs) : TerminalText.fit(settled, to: field, glyphs), style)
    }

    /// Adds blanks up to a column.
    package mutating func pad(to column: Int, _ style: Style = .plain) {
        guard column > width else { return }
        add(String(repeating: " ", count: min(column, limit) - width), style)
    }

    /// The row's text.
    package var text: String { spans.map(\.text).joined() }
}

/// What lies under a place of the screen.
package enum Target: Hashable, Sendable {
    /// The row of a list, by its position in what is shown.
    case item(Int)
    /// The connection's switch.
    case toggle
    /// Something that stands for a key.
    case key(Key)
}

/// A place that answers a click.
package struct Hit: Hashable, Sendable {
    /// The row, from 0.
    package let row: Int
    /// The columns, from 0.
    package let columns: Range<Int>
    /// What a click there means.
    package let target: Target
}

/// A whole screen.
package struct Frame: Equatable, Sendable {
    /// The size it was made for.
    package let size: Size
    /// As many rows as the size has.
    package var rows: [Row] = []
    /// Where a click means something.
    package var hits: [Hit] = []
    /// Where the terminal's cursor stands, when something is being typed.
    package var cursor: (row: Int, column: Int)?

    package init(size: Size) { self.size = size }

    package static func == (left: Frame, right: Frame) -> Bool {
        left.size == right.size && left.rows == right.rows && left.hits == right.hits
            && left.cursor?.row == right.cursor?.row && left.cursor?.column == right.cursor?.column
    }

    /// What lies at a place.
    package func target(row: Int, column: Int) -> Target? {
        hits.last { $0.row == row && $0.columns.contains(column) }?.target
    }

    /// The text of all rows, blanks at their ends removed: what tests compare.
    package var text: String {
        rows.map { row in
            var text = row.text
            while text.last == " " { text.removeLast() }
            return text
        }.joined(separator: "\n")
    }
}
