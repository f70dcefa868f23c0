// Small graphs drawn with characters.

/// Graphs one row high.
package enum Graph {
    /// The last `columns` values, the newest at the right, the largest as high as the row; blanks where there are none yet.
    /// - Parameter full: the least value that fills the row's height, so that little beside nothing looks like little.
    package static func history(_ values: [Int], columns: Int, full: Int, _ glyphs: Glyphs) -> String {
        guard columns > 0 else { return "" }
        let steps = Array(glyphs.blocks ? "▁▂▃▄▅▆▇█" : "_.-~=*#@")
        let shown = values.suffix(columns)
        let top = max(1, full, shown.max() ?? 0)
        var text = String(repeating: " ", count: columns - shown.count)
        for value in shown {
            // Anything above nothing is seen: the second step at least.
            let step = value <= 0 ? 0 : max(1, (value * (steps.count - 1) + top - 1) / top)
            text.append(steps[min(step, steps.count - 1)])
        }
        return text
    }

    /// A bar filled to a fraction, in two parts: filled and rest.
    package static func bar(_ fraction: Double, columns: Int, _ glyphs: Glyphs) -> (filled: String, rest: String) {
        let fraction = min(1, max(0, fraction))
        let filled = fraction > 0 ? max(1, Int((fraction * Double(columns)).rounded(.down))) : 0
        return (
            String(repeating: glyphs.unicode ? "█" : "#", count: filled),
            String(repeating: glyphs.unicode ? "░" : "-", count: columns - filled)
        )
    }
}
