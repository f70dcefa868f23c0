// Compiling a regular expression into the steps that `Pattern` runs.

import Notation

/// Reads an expression once, from left to right, into steps.
struct PatternCompiler {
    private static let maximumSteps = 4_000
    private static let maximumDepth = 16

    private let text: [UInt32]
    private var at = 0
    private var depth = 0
    /// How many groups capture.
    private(set) var groups = 0
    /// How many registers the steps use.
    private(set) var registers = 0
    private(set) var ignoresCase = false

    init?(_ pattern: String) {
        let scalars = pattern.unicodeScalars.map(\.value)
        guard scalars.count <= 1_000 else { return nil }
        text = scalars
        // `(?i)` anywhere turns case off everywhere: in practice it stands in front.
        ignoresCase = pattern.contains("(?i)") || pattern.contains("(?i:")
        // Groups get the first registers, so they are counted beforehand.
        var total = 0
        var isEscaped = false
        var inClass = false
        for (index, value) in scalars.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if value == 0x5C {
                isEscaped = true
            } else if value == 0x5B {
                inClass = true
            } else if value == 0x5D {
                inClass = false
            } else if value == 0x28, !inClass, index + 1 >= scalars.count || scalars[index + 1] != 0x3F {
                total += 1
            }
        }
        registers = total * 2
    }

    mutating func compile() -> [Pattern.Step]? {
        guard var steps = alternatives(), at == text.count else { return nil }
        steps.append(.match)
        return steps
    }

    private var next: UInt32? { at < text.count ? text[at] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar.value else { return false }
        at += 1
        return true
    }

    /// Steps whose jumps are relative to their own start.
    private static func moved(_ steps: [Pattern.Step], by offset: Int) -> [Pattern.Step] {
        steps.map { step in
            switch step {
            case .either(let first, let second): .either(first + offset, second + offset)
            case .jump(let target): .jump(target + offset)
            default: step
            }
        }
    }

    private mutating func alternatives() -> [Pattern.Step]? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth, let first = sequence() else { return nil }
        guard take("|") else { return first }
        guard let rest = alternatives() else { return nil }
        let other = first.count + 2
        var out: [Pattern.Step] = [.either(1, other)]
        out += Self.moved(first, by: 1)
        out.append(.jump(other + rest.count))
        out += Self.moved(rest, by: other)
        return out.count <= Self.maximumSteps ? out : nil
    }

    private mutating func sequence() -> [Pattern.Step]? {
        var out: [Pattern.Step] = []
        while let scalar = next, scalar != 0x7C, scalar != 0x29 {
            guard let atom = atom(), let repeated = repetition(of: atom) else { return nil }
            out += Self.moved(repeated, by: out.count)
            guard out.count <= Self.maximumSteps else { return nil }
        }
        return out
    }

    private mutating func repetition(of atom: [Pattern.Step]) -> [Pattern.Step]? {
        var low = 1
        var high: Int? = 1
        if take("*") {
            (low, high) = (0, nil)
        } else if take("+") {
            (low, high) = (1, nil)
        } else if take("?") {
            (low, high) = (0, 1)
        } else if next == 0x7B, let counts = counts() {
            (low, high) = counts
        } else {
            return atom
        }
        let isLazy = take("?")
        if take("+") { return nil }
        guard low <= 64, high ?? 0 <= 64, high ?? low >= low else { return nil }
        func either(_ inside: Int, _ outside: Int) -> Pattern.Step {
            isLazy ? .either(outside, inside) : .either(inside, outside)
        }
        var out: [Pattern.Step] = []
        for _ in 0..<low {
            out += Self.moved(atom, by: out.count)
            guard out.count <= Self.maximumSteps else { return nil }
        }
        if let high {
            for _ in low..<high {
                let end = out.count + 1 + atom.count
                out.append(either(out.count + 1, end))
                out += Self.moved(atom, by: out.count)
                guard out.count <= Self.maximumSteps else { return nil }
            }
        } else {
            let register = registers
            registers += 1
            let head = out.count
            out.append(either(head + 1, head + 4 + atom.count))
            out.append(.save(register))
            out += Self.moved(atom, by: head + 2)
            out.append(.progress(register))
            out.append(.jump(head))
        }
        return out
    }

    /// `{2}`, `{2,}` or `{2,5}`; nil, with nothing taken, when the brace is meant literally.
    private mutating func counts() -> (Int, Int?)? {
        guard let close = text[at...].prefix(12).firstIndex(of: 0x7D) else { return nil }
        let inner = text[(at + 1)..<close].compactMap(Unicode.Scalar.init).map(Character.init)
        let parts = String(inner).split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= 2, let low = parts.first.flatMap({ Int($0) }), low >= 0 else { return nil }
        var high: Int? = low
        if parts.count == 2 {
            high = Int(parts[1])
            guard high != nil || parts[1].isEmpty else { return nil }
        }
        at = close + 1
        return (low, high)
    }

    private mutating func atom() -> [Pattern.Step]? {
        guard let scalar = next else { return nil }
        at += 1
        switch Unicode.Scalar(scalar) {
        case "(": return group()
        case "[": return set().map { [$0] }
        case ".": return [.any]
        case "^": return [.start]
        case "$": return [.end]
        case "\\": return escape().map { [$0] }
        case "*", "+", "?": return nil
        default: return [.scalar(fold(scalar))]
        }
    }

    private func fold(_ scalar: UInt32) -> UInt32 { ignoresCase ? Pattern.folded(scalar) : scalar }

    private mutating func group() -> [Pattern.Step]? {
        guard take("?") else {
            let number = groups
            groups += 1
            guard let inner = alternatives(), take(")") else { return nil }
            return [.save(number * 2)] + Self.moved(inner, by: 1) + [.save(number * 2 + 1)]
        }
        if take("i") {
            if take(")") { return [] }
            guard take(":") else { return nil }
        } else if take("=") || next == 0x21 {
            let negated = take("!")
            guard var inner = alternatives(), take(")") else { return nil }
            inner.append(.match)
            return [.ahead(inner, negated: negated)]
        } else if !take(":") {
            return nil
        }
        guard let inner = alternatives(), take(")") else { return nil }
        return inner
    }

    private static func range(_ first: Unicode.Scalar, _ last: Unicode.Scalar) -> ClosedRange<UInt32> {
        first.value...last.value
    }

    /// The ranges behind `\d`, `\w` and `\s`.
    private static func named(_ letter: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
        switch letter {
        case "d", "D": [range("0", "9")]
        case "w", "W":
            [
                range("0", "9"), range("A", "Z"), range("a", "z"), range("_", "_"), 0xAA...0x2FF, 0x370...0x1FFF,
                0x3040...0xD7FF,
            ]
        case "s", "S": [0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x3000...0x3000]
        default: nil
        }
    }

    private mutating func escape() -> Pattern.Step? {
        guard let scalar = next.flatMap({ Unicode.Scalar($0) }) else { return nil }
        at += 1
        if let ranges = Self.named(scalar) { return .set(ranges, negated: scalar.value < 0x61) }
        switch scalar {
        case "b": return .boundary(true)
        case "B": return .boundary(false)
        default: return literal(scalar).map { .scalar(fold($0)) }
        }
    }

    /// The character an escape stands for; nil for one not known here.
    private mutating func literal(_ scalar: Unicode.Scalar) -> UInt32? {
        switch scalar {
        case "n": return 0x0A
        case "r": return 0x0D
        case "t": return 0x09
        case "u", "x":
            let count = scalar == "u" ? 4 : 2
            guard at + count <= text.count else { return nil }
            var value: UInt32 = 0
            for _ in 0..<count {
                guard let digit = UInt8(exactly: text[at])?.hexValue else { return nil }
                value = value << 4 | UInt32(digit)
                at += 1
            }
            return value
        default:
            let isWord =
                scalar.isASCII
                && (UInt8(truncatingIfNeeded: scalar.value).isLetter || UInt8(truncatingIfNeeded: scalar.value).isDigit)
            return isWord ? nil : scalar.value
        }
    }

    private mutating func set() -> Pattern.Step? {
        let negated = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        var isFirst = true
        while let scalar = next, scalar != 0x5D || isFirst {
            isFirst = false
            at += 1
            var low = scalar
            if scalar == 0x5C {
                guard let letter = next.flatMap({ Unicode.Scalar($0) }) else { return nil }
                at += 1
                if let named = Self.named(letter) {
                    guard letter.value >= 0x61 else { return nil }
                    ranges += named
                    continue
                }
                guard let value = literal(letter) else { return nil }
                low = value
            }
            var high = low
            if next == 0x2D, at + 1 < text.count, text[at + 1] != 0x5D {
                at += 1
                high = text[at]
                at += 1
                if high == 0x5C {
                    guard let letter = next.flatMap({ Unicode.Scalar($0) }) else { return nil }
                    at += 1
                    guard let value = literal(letter) else { return nil }
                    high = value
                }
            }
            guard low <= high else { return nil }
            ranges.append(low...high)
            let foldedLow = fold(low)
            let foldedHigh = fold(high)
            if ignoresCase, foldedLow <= foldedHigh { ranges.append(foldedLow...foldedHigh) }
            guard ranges.count <= 1_000 else { return nil }
        }
        guard take("]") else { return nil }
        return .set(ranges, negated: negated)
    }
}
