// Cutting a stream of bytes into lines, for responses that never end.

/// Collects bytes and gives out whole lines. A line longer than the limit is thrown away to its end.
package struct LineBuffer: Sendable {
    private var pending: [UInt8] = []
    private var skipping = false
    private let limit: Int

    /// - Parameter limit: bytes a line may have.
    package init(limit: Int = 1 << 20) { self.limit = limit }

    /// Takes more bytes and returns the lines they complete, without their line ends.
    package mutating func add(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if piece.offset > 0 {
                if !skipping { lines.append(pending) }
                pending = []
                skipping = false
            }
            if skipping { continue }
            pending.append(contentsOf: piece.element)
            if pending.count > limit {
                pending = []
                skipping = true
            }
        }
        return lines
    }
}
