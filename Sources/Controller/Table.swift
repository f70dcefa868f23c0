// Rows of cells as aligned lines.

import Messages

/// Tables on a terminal.
enum Table {
    /// Columns a name may take in a table or sentence; the rest is cut off, `…`.
    static let widestName = 48

    /// The lines of a table, its columns two spaces apart and as wide as their widest cell.
    /// - Parameter right: the columns aligned to the right.
    static func lines(_ rows: [[String]], right: Set<Int> = []) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? DisplayWidth.of($0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                if column > 0 { line += "  " }
                if right.contains(column) {
                    line += DisplayWidth.aligned(cell, to: widths[column])
                } else if column < row.count - 1 {
                    line += DisplayWidth.padded(cell, to: widths[column])
                } else {
                    line += cell
                }
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
