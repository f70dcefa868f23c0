// Finding the line a user means: by name, by a part of it, or by its number in the list.

import CommandLine
import JSON
import Messages
package import Store

/// A line of the subscription, or the automatic choice.
package enum LineChoice: Hashable, Sendable {
    /// The engine's own pick: the fastest line.
    case automatic
    /// A line and its number in the list, counted from 1.
    case line(StoredLine, number: Int)

    /// The name people see.
    package var name: String {
        switch self {
        case .automatic: "auto"
        case .line(let line, _): line.name
        }
    }

    /// The engine's tag for it.
    package var tag: String {
        switch self {
        case .automatic: "auto"
        case .line(let line, _): line.tag
        }
    }

    /// How it is remembered.
    var selection: Selection? {
        switch self {
        case .automatic: nil
        case .line(let line, _): Selection(identity: line.identity, name: line.name)
        }
    }
}

/// Matches what a user typed against the lines. Names carry emoji, `|`, spaces and CJK.
package struct LineMatcher {
    private let lines: [StoredLine]

    /// - Parameter lines: the usable lines in the order of the list.
    package init(_ lines: [StoredLine]) { self.lines = lines }

    /// The line meant: an exact name first, then a number of the list (`3` or `#3`), then a unique case-insensitive part of a
    /// name. Digits that are no number of the list, such as `04`, are a part of a name.
    /// - Throws: `Failure` with `line-unknown` or `line-ambiguous`, which lists the candidates.
    package func find(_ typed: String) throws -> LineChoice {
        if let position = lines.firstIndex(where: { $0.name == typed }) { return choice(position) }
        if let position = lines.firstIndex(where: { $0.tag == typed }) { return choice(position) }
        if typed.lowercased() == "auto" { return .automatic }
        let digits = typed.hasPrefix("#") ? typed.dropFirst() : typed[...]
        if let position = position(digits) { return choice(position) }
        let wanted = Array(typed.lowercased())
        let found = wanted.isEmpty ? [] : lines.indices.filter { Self.contains(lines[$0].name.lowercased(), wanted) }
        guard let first = found.first else { throw unknown(typed) }
        guard found.count == 1 else { throw ambiguous(typed, found) }
        return choice(first)
    }

    private func choice(_ position: Int) -> LineChoice { .line(lines[position], number: position + 1) }

    private func position(_ text: Substring) -> Int? {
        guard let number = Int(text), String(number) == text, lines.indices.contains(number - 1) else { return nil }
        return number - 1
    }

    private static func contains(_ name: String, _ wanted: [Character]) -> Bool {
        let name = Array(name)
        guard name.count >= wanted.count else { return false }
        return (0...(name.count - wanted.count)).contains { name[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }

    private func unknown(_ typed: String) -> Failure {
        let positions = nearest(to: typed)
        return Failure(
            "line-unknown", .badInput, Messages.lineUnknown(typed),
            remedy: Messages.lineUnknownRemedy(positions.map { title($0) }), more: [candidates(positions)])
    }

    /// The few lines most like what was typed: by the word of a name that needs the fewest edits.
    private func nearest(to typed: String) -> [Int] {
        let wanted = String(typed.prefix(64)).lowercased()
        let scored = lines.indices.map { position in
            let words = lines[position].name.lowercased().split { !$0.isLetter && !$0.isNumber }
            let edits = words.prefix(16).map { editDistance(wanted, String($0.prefix(64))) }.min() ?? Int.max
            return (position: position, edits: edits)
        }
        return scored.sorted { ($0.edits, $0.position) < ($1.edits, $1.position) }.prefix(5).map(\.position)
    }

    private func title(_ position: Int) -> String {
        "#\(position + 1) " + DisplayWidth.cut(lines[position].name, to: 60)
    }

    private func candidates(_ positions: [Int]) -> (String, JSON) {
        (
            "candidates",
            .array(positions.map { ["number": .int($0 + 1), "name": .string(lines[$0].name)] })
        )
    }

    private func ambiguous(_ typed: String, _ positions: [Int]) -> Failure {
        let shown = positions.prefix(10).map { title($0) }
        return Failure(
            "line-ambiguous", .badInput, Messages.lineAmbiguous(typed, positions.count),
            remedy: Messages.candidates(shown, more: positions.count - shown.count),
            more: [candidates(positions)])
    }
}
