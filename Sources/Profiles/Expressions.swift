// Which regular expressions the engine can compile: one it cannot stops it, and providers write for other engines.

import JSON

/// A check of regular expressions against the engine's syntax (Go's RE2): no look-around, no back-references, no
/// possessive repetition, only escapes that exist. It errs towards refusing.
/// Source: <https://pkg.go.dev/regexp/syntax>.
package enum Expressions {
    /// True when the engine compiles it.
    package static func accepts(_ expression: String) -> Bool {
        var reader = Reader(bytes: Array(expression.utf8))
        return reader.isSound()
    }

    /// Keeps those of a listable value that the engine compiles; nil when all stay.
    static func unsupported(in value: JSON) -> (kept: [JSON], lost: Int)? {
        let kept = value.listed.filter { $0.string.map(accepts) ?? false }
        let lost = value.listed.count - kept.count
        return lost == 0 ? nil : (kept, lost)
    }

    private struct Reader {
        let bytes: [UInt8]
        var at = 0
        var open = 0
        /// What a repetition operator would apply to.
        var canRepeat = false

        mutating func isSound() -> Bool {
            while at < bytes.count {
                guard step() else { return false }
            }
            return open == 0
        }

        private func peek(_ distance: Int = 0) -> UInt8 { at + distance < bytes.count ? bytes[at + distance] : 0 }

        private mutating func step() -> Bool {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\\"): return escape()
            case UInt8(ascii: "["): return characterClass()
            case UInt8(ascii: "("): return group()
            case UInt8(ascii: ")"):
                open -= 1
                canRepeat = true
                return open >= 0
            case UInt8(ascii: "|"): canRepeat = false
            case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"): return repetition()
            case UInt8(ascii: "{"): return braces()
            default: canRepeat = true
            }
            return true
        }

        /// After an operator: one `?` for laziness, and then nothing that repeats again.
        private mutating func repetition() -> Bool {
            guard canRepeat else { return false }
            if peek() == UInt8(ascii: "?") { at += 1 }
            canRepeat = false
            return ![UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?")].contains(peek())
        }

        /// `{n}`, `{n,}`, `{n,m}` with at most 1000; anything else is the text itself.
        private mutating func braces() -> Bool {
            var end = at
            while end < bytes.count, end - at < 12, bytes[end] != UInt8(ascii: "}") { end += 1 }
            let text = String(decoding: bytes[at..<end], as: UTF8.self)
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
            let shaped =
                end < bytes.count && bytes[end] == UInt8(ascii: "}") && numbers.count <= 2 && Int(numbers[0]) != nil
                && (numbers.count < 2 || numbers[1].isEmpty || Int(numbers[1]) != nil)
            guard shaped else {
                canRepeat = true
                return true
            }
            at = end + 1
            let least = Int(numbers[0]) ?? 0
            let most = numbers.count == 2 ? Int(numbers[1]) ?? least : least
            return least <= 1000 && most <= 1000 && least <= most && repetition()
        }

        private mutating func escape() -> Bool {
            guard at < bytes.count else { return false }
            let byte = bytes[at]
            at += 1
            canRepeat = true
            switch byte {
            case UInt8(ascii: "1")...UInt8(ascii: "7"):
                // One digit alone is a back-reference; more are an octal number.
                return (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(peek())
            case UInt8(ascii: "8"), UInt8(ascii: "9"): return false
            case UInt8(ascii: "x"): return hexadecimal()
            case UInt8(ascii: "p"), UInt8(ascii: "P"):
                guard peek() == UInt8(ascii: "{") else {
                    at += 1
                    return at <= bytes.count
                }
                while at < bytes.count, bytes[at] != UInt8(ascii: "}") { at += 1 }
                at += 1
                return at <= bytes.count
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                return "aftnrvdDsSwWbBAzCQE".utf8.contains(byte)
            default: return byte < 0x80
            }
        }

        private mutating func hexadecimal() -> Bool {
            func isDigit(_ byte: UInt8) -> Bool { "0123456789abcdefABCDEF".utf8.contains(byte) }
            if peek() == UInt8(ascii: "{") {
                at += 1
                let start = at
                while isDigit(peek()), at - start < 6 { at += 1 }
                guard at > start, peek() == UInt8(ascii: "}") else { return false }
                at += 1
                return true
            }
            guard isDigit(peek()), isDigit(peek(1)) else { return false }
            at += 2
            return true
        }

        private mutating func characterClass() -> Bool {
            if peek() == UInt8(ascii: "^") { at += 1 }
            var first = true
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                if byte == UInt8(ascii: "]"), !first {
                    canRepeat = true
                    return true
                }
                first = false
                if byte == UInt8(ascii: "\\"), !escape() { return false }
                if byte == UInt8(ascii: "["), peek() == UInt8(ascii: ":") {
                    while at < bytes.count, bytes[at] != UInt8(ascii: "]") { at += 1 }
                    at += 1
                }
            }
            return false
        }

        /// `(…`, `(?:…`, `(?flags…`, `(?P<name>…`, `(?<name>…`; nothing that looks around.
        private mutating func group() -> Bool {
            open += 1
            canRepeat = false
            guard peek() == UInt8(ascii: "?") else { return true }
            at += 1
            if peek() == UInt8(ascii: "P") { at += 1 }
            if peek() == UInt8(ascii: "<") {
                at += 1
                let start = at
                while at < bytes.count, bytes[at] != UInt8(ascii: ">") {
                    let byte = bytes[at]
                    let isWord =
                        byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    guard isWord else { return false }
                    at += 1
                }
                at += 1
                return at <= bytes.count && at > start + 1
            }
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                switch byte {
                case UInt8(ascii: ":"): return true
                case UInt8(ascii: ")"):
                    open -= 1
                    return true
                default: guard "imsU-".utf8.contains(byte) else { return false }
                }
            }
            return false
        }
    }
}
