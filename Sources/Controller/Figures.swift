// Sizes and lengths of time as people read them.

package import Messages

/// Figures for people.
package enum Figures {
    /// A number of bytes: `812 B`, `1.5 MB`, `12.3 GB` (steps of 1024, as quotas of providers count).
    package static func bytes(_ count: some BinaryInteger) -> String {
        var value = Double(Int64(clamping: count))
        for unit in ["B", "KB", "MB", "GB", "TB"] {
            if abs(value) < 1024 || unit == "TB" {
                let tenths = Int((value * 10).rounded())
                return unit == "B" || abs(value) >= 100
                    ? "\(Int(value.rounded())) \(unit)"
                    : "\(tenths / 10).\(abs(tenths) % 10) \(unit)"
            }
            value /= 1024
        }
        return ""
    }

    /// A length of time in its largest unit or two: `42 s`, `3 min`, `5 h 10 min`, `2 d 3 h`.
    package static func duration(seconds: Int) -> Text {
        let seconds = max(0, seconds)
        func text(_ parts: [(Int, String, String)]) -> Text {
            let parts = parts.filter { $0.0 > 0 }
            return Text(
                parts.map { "\($0.0) \($0.1)" }.joined(separator: " "),
                parts.map { "\($0.0) \($0.2)" }.joined(separator: " "))
        }
        if seconds < 60 { return Text("\(seconds) 秒", "\(seconds) s") }
        if seconds < 3600 { return text([(seconds / 60, "分钟", "min")]) }
        if seconds < 86_400 { return text([(seconds / 3600, "小时", "h"), (seconds % 3600 / 60, "分钟", "min")]) }
        return text([(seconds / 86_400, "天", "d"), (seconds % 86_400 / 3600, "小时", "h")])
    }

    /// A table with aligned columns.
    /// - Parameter right: the columns aligned to the right.
    package static func table(_ rows: [[String]], right: Set<Int> = []) -> [String] {
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
