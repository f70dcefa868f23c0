// "Did you mean": the known word nearest to a mistyped one.

/// The word nearest to a mistyped one by edit distance, nil when none is near. A word that begins with what was typed is
/// near whatever its length.
package func nearest(_ typed: String, among words: [String]) -> String? {
    let typed = typed.lowercased()
    guard !typed.isEmpty, typed.count <= 64 else { return nil }
    if typed.count > 1, let longer = words.first(where: { $0.hasPrefix(typed) }) { return longer }
    let best = words.map { (word: $0, distance: editDistance(typed, $0)) }.min { $0.distance < $1.distance }
    guard let best, best.distance <= max(1, typed.count / 3) else { return nil }
    return best.word
}

/// The optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours, one each.
package func editDistance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in 1...max(1, left.count) where row <= left.count {
        var current = [row]
        for column in 1...max(1, right.count) where column <= right.count {
            let cost = left[row - 1] == right[column - 1] ? 0 : 1
            var value = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + cost)
            if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                value = min(value, beforePrevious[column - 2] + 1)
            }
            current.append(value)
        }
        beforePrevious = previous
        previous = current
    }
    return previous.last ?? 0
}
