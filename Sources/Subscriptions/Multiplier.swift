// What a byte costs on a line, where its name says so with certainty (`mapping.md` 8).

/// Reading multipliers from names.
package enum Multiplier {
    private static let keywords = ["倍率", "倍数", "费率", "计费比例", "rate", "multiplier"].map(scalars)
    private static let chinese: [UInt32: Double] = {
        let numerals: [(Unicode.Scalar, Double)] = [
            ("半", 0.5), ("一", 1), ("双", 2), ("两", 2), ("二", 2), ("三", 3), ("四", 4), ("五", 5), ("六", 6), ("七", 7),
            ("八", 8), ("九", 9), ("十", 10),
        ]
        return Dictionary(uniqueKeysWithValues: numerals.map { ($0.0.value, $0.1) })
    }()
    private static let times: UInt32 = 0x500D
    private static let speed: UInt32 = 0x901F
    /// Codecs and processors, not prices.
    private static let never: Set<Double> = [86, 64, 32, 264, 265]

    /// The multiplier a name states; nil when it states none, or none for certain.
    package static func of(_ name: String) -> Double? {
        let text = FoldedText(name)
        for rule in [byKeyword, byNumeral, bySymbol] {
            let found = Set(rule(text))
            if found.count > 1 { return nil }
            if let value = found.first { return value }
        }
        return nil
    }

    /// A number from `0` to `999.999` without leading zeros that starts here, and where it ends. Nil when the digits
    /// here go on in a way such a number does not.
    private static func number(_ text: FoldedText, _ start: Int) -> (value: Double, end: Int)? {
        var at = start
        while text.isDigit(at), at - start < 4 { at += 1 }
        let whole = at - start
        guard whole > 0, whole <= 3, whole == 1 || text.scalar(start) != 0x30 else { return nil }
        var value = 0.0
        for place in start..<at { value = value * 10 + Double(text.scalar(place) - 0x30) }
        guard text.scalar(at) == 0x2E, text.isDigit(at + 1) else { return (value, at) }
        let point = at
        at += 1
        var fraction = 0
        var divisor = 1
        while text.isDigit(at), at - point <= 4 {
            fraction = fraction * 10 + Int(text.scalar(at) - 0x30)
            divisor *= 10
            at += 1
        }
        guard at - point - 1 <= 3 else { return nil }
        // One division, so that 1.8 is the double nearest to 1.8.
        return ((value * Double(divisor) + Double(fraction)) / Double(divisor), at)
    }

    private static func byKeyword(_ text: FoldedText) -> [Double] {
        var found: [Double] = []
        for at in text.scalars.indices {
            let first = text.scalar(at)
            if text.isDigit(at), !text.isDigit(at - 1), text.scalar(at - 1) != 0x2E,
                let (value, end) = number(text, at),
                text.scalar(end) == times, text.scalar(end + 1) != speed, value <= 100
            {
                found.append(value)
            }
            guard let word = keywords.first(where: { $0[0] == first && text.has($0, at: at) }) else { continue }
            if first < 0x80, text.isLetter(at - 1) { continue }
            var place = text.skipSpaces(at + word.count)
            if [0x3A, 0x3D, 0x78, 0xD7].contains(text.scalar(place)) { place = text.skipSpaces(place + 1) }
            guard let (value, end) = number(text, place), value <= 100, !text.isDigit(end) else { continue }
            let after = text.scalar(end)
            if after == 0x25 || after == 0x2E && text.isDigit(end + 1) { continue }
            found.append(value)
        }
        return found
    }

    private static func byNumeral(_ text: FoldedText) -> [Double] {
        var found: [Double] = []
        for at in text.scalars.indices where text.scalar(at) == times && text.scalar(at + 1) != speed {
            guard let value = chinese[text.scalar(at - 1)], chinese[text.scalar(at - 2)] == nil else { continue }
            found.append(value)
        }
        return found
    }

    private static func bySymbol(_ text: FoldedText) -> [Double] {
        var found: [Double] = []
        func isAlphanumeric(_ at: Int) -> Bool { text.isDigit(at) || text.isLetter(at) }
        func isBound(_ at: Int) -> Bool { isAlphanumeric(at) || text.scalar(at) == 0x2E }
        for at in text.scalars.indices {
            let sign = text.scalar(at)
            let isCross = sign == 0xD7 || sign == 0x2715 || sign == 0x2716
            guard isCross || sign == 0x78 || sign == 0x2A else { continue }
            if !isBound(at - 1), let (value, end) = number(text, isCross ? text.skipSpaces(at + 1) : at + 1),
                !isBound(end), text.scalar(end) != 0x25
            {
                found.append(value)
            }
            guard sign != 0x2A, !isAlphanumeric(at + 1) else { continue }
            var last = at - 1
            if isCross { while text.scalar(last) == 0x20 { last -= 1 } }
            var start = last + 1
            while start > 0, text.isDigit(start - 1) || text.scalar(start - 1) == 0x2E { start -= 1 }
            guard start <= last, !isBound(start - 1), let (value, end) = number(text, start), end == last + 1 else {
                continue
            }
            found.append(value)
        }
        return found.filter { $0 <= 50 && !never.contains($0) }
    }
}
