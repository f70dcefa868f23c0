// One list item that is not YAML must not cost the whole profile.

internal import YAML

/// Parsing a profile in spite of broken list items.
enum ClashRepair {
    private static let maximumRepairs = 20
    /// How many bytes may be parsed again in all, so that a large broken text stays cheap.
    private static let maximumBytes = 48 << 20
    /// What takes the place of an item: no mapping, so it is reported and dropped like any other.
    private static let stub = Array("- unreadable".utf8)

    /// Parses a text; items that break its grammar are replaced one by one and the text is parsed again.
    /// - Throws: the first error when the text cannot be mended that way.
    static func parse(_ text: [UInt8]) throws(YAMLError) -> Node {
        let first: YAMLError
        do throws(YAMLError) { return try Node.parse(yaml: text) } catch { first = error }
        guard first.kind == .syntax else { throw first }
        var text = text
        var error = first
        for _ in 0..<min(maximumRepairs, maximumBytes / max(text.count, 1)) {
            guard let mended = mended(text, error) else { throw first }
            text = mended
            do throws(YAMLError) { return try Node.parse(yaml: text) } catch let next { error = next }
            guard error.kind == .syntax else { throw first }
        }
        throw first
    }

    /// The text with the item at fault replaced; nil when the fault is in no list item.
    private static func mended(_ text: [UInt8], _ error: YAMLError) -> [UInt8]? {
        var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) }
        for line in [error.start, error.line] {
            guard let line, let item = item(lines, at: line - 1), lines[item.lowerBound].count > 0 else { continue }
            let indent = lines[item.lowerBound].prefix { $0 == 0x20 }
            let replacement = Array(indent) + stub
            guard lines[item.lowerBound] != replacement else { continue }
            for index in item { lines[index] = [] }
            lines[item.lowerBound] = replacement
            return Array(lines.joined(separator: [0x0A]))
        }
        return nil
    }

    /// The lines of the list item that holds a line.
    private static func item(_ lines: [[UInt8]], at line: Int) -> Range<Int>? {
        func indent(_ index: Int) -> Int { lines[index].prefix { $0 == 0x20 }.count }
        guard lines.indices.contains(line) else { return nil }
        var start = line
        while !lines[start].dropFirst(indent(start)).starts(with: "- ".utf8) {
            guard start > 0, line - start < 200, !lines[start].isEmpty else { return nil }
            start -= 1
        }
        let depth = indent(start)
        var end = start + 1
        while end < lines.count, lines[end].allSatisfy(\.isSpace) || indent(end) > depth { end += 1 }
        return start..<end
    }
}
