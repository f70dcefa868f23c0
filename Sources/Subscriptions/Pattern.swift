// Regular expressions for providers' filters, matched with a bounded number of steps.

/// A regular expression of the kind Clash profiles use: literals, classes, groups, alternatives, counted and lazy
/// repetition, anchors, word boundaries, look-ahead, `(?i)`. The standard library's engine has no bound on its work,
/// and these patterns come from strangers.
struct Pattern {
    /// One step of the compiled expression.
    indirect enum Step {
        case scalar(UInt32)
        case any
        case set([ClosedRange<UInt32>], negated: Bool)
        /// Goes on at the first place, and at the second when that fails.
        case either(Int, Int)
        case jump(Int)
        /// Remembers the place in a register.
        case save(Int)
        /// Fails when nothing was consumed since the register was saved.
        case progress(Int)
        case start
        case end
        case boundary(Bool)
        /// Looks ahead with an expression of its own.
        case ahead([Step], negated: Bool)
        case match
    }

    private static let longestText = 512

    private let steps: [Step]
    private let registers: Int
    private let groups: Int
    private let ignoresCase: Bool

    /// Compiles an expression; nil when it uses what is not known here, or is too large.
    init?(_ text: String) {
        guard var compiler = PatternCompiler(text), let steps = compiler.compile() else { return nil }
        self.steps = steps
        registers = compiler.registers
        groups = compiler.groups
        ignoresCase = compiler.ignoresCase
    }

    /// Whether the expression is found anywhere in a text; nil when the fuel ran out.
    func isFound(in text: String, fuel: inout Int) -> Bool? {
        let scalars = prepared(text)
        for start in 0...scalars.count {
            guard let found = run(steps, scalars, start, &fuel) else { return nil }
            if found.end != nil { return true }
        }
        return false
    }

    /// The text with every match replaced; `$1` in the target stands for a group. Nil when the fuel ran out.
    func replacing(in text: String, with target: String, fuel: inout Int) -> String? {
        let original = Array(text.unicodeScalars.prefix(Self.longestText))
        let scalars = prepared(text)
        var out = String.UnicodeScalarView()
        var at = 0
        while at <= scalars.count {
            guard let found = run(steps, scalars, at, &fuel) else { return nil }
            guard let end = found.end else {
                if at < original.count { out.append(original[at]) }
                at += 1
                continue
            }
            out.append(contentsOf: expand(target, found.registers, original, at..<end))
            if end == at, at < original.count { out.append(original[at]) }
            at = max(end, at + 1)
        }
        return String(out)
    }

    private func expand(
        _ target: String, _ registers: [Int], _ text: [Unicode.Scalar], _ whole: Range<Int>
    ) -> [Unicode.Scalar] {
        var out: [Unicode.Scalar] = []
        var scalars = Array(target.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            guard scalar == "$", let digit = scalars.first.flatMap({ Int(String($0)) }) else {
                out.append(scalar)
                continue
            }
            scalars.removeFirst()
            let range: Range<Int>
            if digit == 0 {
                range = whole
            } else {
                guard digit <= groups, registers[digit * 2 - 2] >= 0,
                    registers[digit * 2 - 1] >= registers[digit * 2 - 2]
                else { continue }
                range = registers[digit * 2 - 2]..<registers[digit * 2 - 1]
            }
            out.append(contentsOf: text[range.clamped(to: 0..<text.count)])
        }
        return out
    }

    private func prepared(_ text: String) -> [UInt32] {
        text.unicodeScalars.prefix(Self.longestText).map { ignoresCase ? Self.folded($0.value) : $0.value }
    }

    /// ASCII, Latin and Cyrillic capitals as small letters.
    static func folded(_ value: UInt32) -> UInt32 {
        switch value {
        case 0x41...0x5A, 0xC0...0xD6, 0xD8...0xDE, 0x391...0x3A9, 0x410...0x42F: value + 0x20
        default: value
        }
    }

    private enum Saved {
        case branch(step: Int, at: Int)
        case register(Int, Int)
    }

    /// Runs steps from one place. Nil when the fuel ran out; an end of nil when there is no match here.
    private func run(
        _ steps: [Step], _ text: [UInt32], _ start: Int, _ fuel: inout Int
    ) -> (end: Int?, registers: [Int])? {
        var values = Array(repeating: -1, count: registers)
        var stack: [Saved] = []
        var step = 0
        var at = start
        while true {
            fuel -= 1
            guard fuel > 0, stack.count < 100_000 else { return nil }
            var holds = true
            switch steps[step] {
            case .scalar(let value):
                holds = at < text.count && text[at] == value
                at += 1
                step += 1
            case .any:
                holds = at < text.count && text[at] != 0x0A
                at += 1
                step += 1
            case .set(let ranges, let negated):
                holds = at < text.count && ranges.contains { $0.contains(text[at]) } != negated
                at += 1
                step += 1
            case .either(let first, let second):
                stack.append(.branch(step: second, at: at))
                step = first
            case .jump(let target): step = target
            case .save(let register):
                stack.append(.register(register, values[register]))
                values[register] = at
                step += 1
            case .progress(let register):
                holds = values[register] != at
                step += 1
            case .start:
                holds = at == 0
                step += 1
            case .end:
                holds = at == text.count
                step += 1
            case .boundary(let wanted):
                let before = at > 0 && Self.isWord(text[at - 1])
                let after = at < text.count && Self.isWord(text[at])
                holds = (before != after) == wanted
                step += 1
            case .ahead(let inner, let negated):
                guard let found = run(inner, text, at, &fuel) else { return nil }
                holds = (found.end != nil) != negated
                step += 1
            case .match: return (at, values)
            }
            if holds { continue }
            resume: while true {
                switch stack.popLast() {
                case nil: return (nil, values)
                case .register(let register, let value)?: values[register] = value
                case .branch(let other, let place)?:
                    step = other
                    at = place
                    break resume
                }
            }
        }
    }

    private static func isWord(_ value: UInt32) -> Bool {
        switch value {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        case 0x80...: Unicode.Scalar(value)?.properties.isAlphabetic ?? false
        default: false
        }
    }
}
