// The lines of the subscription with everything precomputed that sorting and filtering thousands of them needs.

package import Messages

/// What is known of a line's latency.
package enum Latency: Hashable, Sendable {
    case unknown
    /// Being measured now.
    case testing
    /// Milliseconds, and when it was measured (seconds since 1970).
    case measured(milliseconds: Int, at: Double)
    /// A code such as `timeout` or `refused`, and when.
    case failed(code: String, at: Double)
}

/// One line as the dashboard shows it.
package struct LineItem: Hashable, Sendable {
    /// The id of the automatic choice: the engine's pick of the fastest line.
    package static let automaticID = "auto"

    /// The line's identity; `auto` for the automatic choice.
    package var id: String
    /// The provider's name of it.
    package var name: String
    /// The protocol, such as `hysteria2`.
    package var kind: String
    /// What a byte costs; nil when the name does not say.
    package var multiplier: Double?
    /// Why it cannot be used, in words; nil when it can.
    package var unusable: Text?
    /// The last measurement.
    package var latency: Latency
    /// Where the name says the line ends; nil when it does not.
    package fileprivate(set) var region: Region?

    package init(
        id: String, name: String, kind: String, multiplier: Double? = nil, unusable: Text? = nil,
        latency: Latency = .unknown
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.multiplier = multiplier
        self.unusable = unusable
        self.latency = latency
    }
}

/// The orders a list can have.
package enum Sort: Int, Sendable, CaseIterable {
    case order, latency, name, multiplier

    /// The next one round.
    package var next: Sort { Sort(rawValue: (rawValue + 1) % Sort.allCases.count) ?? .order }
}

/// All lines in the provider's order.
///
/// Filtering is one pass over one buffer of folded bytes; ordering compares integers. 5,000 lines take well under a
/// frame's time for both.
package struct LineTable: Sendable {
    /// The automatic choice first, when there is one, then the lines in the provider's order.
    package private(set) var items: [LineItem] = []
    private var hasAutomatic = false
    private var places: [String: Int] = [:]
    private var folded: [UInt8] = []
    /// Where a line's folded text begins; one more at the end.
    private var starts: [Int] = [0]
    private var nameRanks: [Int32]?

    package init() {}

    /// Takes in the lines and precomputes region and search text.
    /// - Parameter automatic: whether the automatic choice stands before them.
    package init(_ lines: [LineItem], automatic: Bool = false) {
        items = lines
        if automatic, !lines.isEmpty {
            items.insert(LineItem(id: LineItem.automaticID, name: "", kind: "urltest"), at: 0)
        }
        hasAutomatic = items.count > lines.count
        places.reserveCapacity(items.count)
        starts.reserveCapacity(items.count + 1)
        for position in items.indices {
            places[items[position].id] = position
            items[position].region = Region(in: items[position].name)
            let region = items[position].region?.code ?? ""
            folded.append(contentsOf: Self.fold("\(items[position].name)\n\(region)\n\(items[position].kind)"))
            starts.append(folded.count)
        }
    }

    /// Lines, the automatic choice not counted.
    package var count: Int { items.count - (hasAutomatic ? 1 : 0) }

    /// Usable lines.
    package var usableCount: Int { items.reduce(hasAutomatic ? -1 : 0) { $0 + ($1.unusable == nil ? 1 : 0) } }

    /// A line's number as the list of the command line counts, from 1; nil for the automatic choice.
    package func number(at place: Int) -> Int? {
        let number = hasAutomatic ? place : place + 1
        return number > 0 ? number : nil
    }

    /// A line by its id.
    package func line(_ id: String) -> LineItem? { places[id].map { items[$0] } }

    /// A line's place in the provider's order.
    package func place(of id: String) -> Int? { places[id] }

    /// Sets what is known of a line's latency; an unknown id is ignored.
    package mutating func setLatency(_ latency: Latency, of id: String) {
        if let place = places[id] { items[place].latency = latency }
    }

    /// Marks lines as being measured: these, or all usable ones.
    package mutating func markTesting(_ ids: [String]) {
        for place in ids.isEmpty ? Array(items.indices) : ids.compactMap({ places[$0] })
        where items[place].unusable == nil && items[place].id != LineItem.automaticID {
            items[place].latency = .testing
        }
    }

    /// The places of the lines that match, in order. Words of the filter are separated by spaces; all must occur in the
    /// name, the region's code or the protocol. Unusable and failed lines come last when sorted by latency.
    package mutating func arrange(filter: String, sort: Sort) -> [Int] {
        let words = filter.split(separator: " ").map { Self.fold(String($0)) }
        var places = Array(items.indices)
        // The automatic choice stays on top whatever the order, and is no match for any filter.
        let top = hasAutomatic && words.isEmpty ? [0] : []
        if hasAutomatic { places.removeFirst() }
        if !words.isEmpty { places = places.filter { place in words.allSatisfy { contains($0, at: place) } } }
        switch sort {
        case .order: return top + places
        case .latency: return top + Self.sorted(places) { latencyRank($0) }
        case .multiplier:
            return top + Self.sorted(places) { Int64(((items[$0].multiplier ?? 1) * 1000).rounded()) }
        case .name:
            let ranks = nameRanks ?? Self.ranks(of: items)
            nameRanks = ranks
            return top + Self.sorted(places) { Int64(ranks[$0]) }
        }
    }

    private static func sorted(_ places: [Int], by key: (Int) -> Int64) -> [Int] {
        places.map { (key($0), $0) }.sorted { $0 < $1 }.map(\.1)
    }

    private func latencyRank(_ place: Int) -> Int64 {
        if items[place].unusable != nil { return 4_000_000_000 }
        return switch items[place].latency {
        case .measured(let milliseconds, _): Int64(milliseconds)
        case .testing: 1_000_000_000
        case .unknown: 2_000_000_000
        case .failed: 3_000_000_000
        }
    }

    private static func ranks(of items: [LineItem]) -> [Int32] {
        let names = items.map { fold(Region.withoutFlag($0.name)) }
        let order = items.indices.sorted { precedes(names[$0], names[$1]) ?? ($0 < $1) }
        var ranks = [Int32](repeating: 0, count: items.count)
        for (rank, place) in order.enumerated() { ranks[place] = Int32(rank) }
        return ranks
    }

    /// Whether one name comes before another, digits compared as numbers; nil when they are the same.
    private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool? {
        var i = 0
        var j = 0
        while i < left.count, j < right.count {
            if isDigit(left[i]), isDigit(right[j]) {
                let first = number(in: left, from: &i)
                let second = number(in: right, from: &j)
                if first != second { return first < second }
            } else if left[i] != right[j] {
                return left[i] < right[j]
            } else {
                i += 1
                j += 1
            }
        }
        if i < left.count { return false }
        return j < right.count ? true : nil
    }

    private static func number(in bytes: [UInt8], from place: inout Int) -> UInt64 {
        var value: UInt64 = 0
        while place < bytes.count, isDigit(bytes[place]) {
            value = value &* 10 &+ UInt64(bytes[place] - 48)
            place += 1
        }
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func fold(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 } }
        return Array(text.lowercased().utf8)
    }

    private func contains(_ word: [UInt8], at place: Int) -> Bool {
        folded.withUnsafeBufferPointer { folded in
            word.withUnsafeBufferPointer { word in
                let last = starts[place + 1] - word.count
                var start = starts[place]
                while start <= last {
                    if folded[start] == word[0] {
                        var length = 1
                        while length < word.count, folded[start + length] == word[length] { length += 1 }
                        if length == word.count { return true }
                    }
                    start += 1
                }
                return false
            }
        }
    }
}
