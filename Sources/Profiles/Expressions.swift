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

    /// The conditions that hold names or expressions.
    static let names = ["domain", "domain_suffix", "domain_keyword", "domain_regex"]

    /// Keeps those items of a listable value that the engine takes: texts, not empty, and compilable where they are
    /// expressions. nil when all stay.
    static func usable(_ value: JSON?, of key: String) -> [JSON]? {
        guard let value, !value.isNull, value != [] else { return nil }
        let items = value.listed
        let kept = items.filter { item in
            guard let text = item.string, !text.isEmpty else { return false }
            return key != "domain_regex" || accepts(text)
        }
        return kept.count == items.count ? nil : kept
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
                return property()
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                return "aftnrvdDsSwWbBAzCQE".utf8.contains(byte)
            default: return byte < 0x80
            }
        }

        /// The categories and the scripts that turn up in names; the engine knows more, but one it does not know stops it.
        private static let properties: Set<String> = [
            "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps",
            "Pe",
            "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Co", "Cs", "Han",
            "Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Thai", "Hiragana", "Katakana", "Hangul", "Devanagari",
            "Common", "Any",
        ]

        private mutating func property() -> Bool {
            var end = at
            if peek() == UInt8(ascii: "{") {
                while end < bytes.count, bytes[end] != UInt8(ascii: "}") { end += 1 }
                guard end < bytes.count else { return false }
                let name = String(decoding: bytes[(at + 1)..<end], as: UTF8.self)
                at = end + 1
                return Self.properties.contains(name.hasPrefix("^") ? String(name.dropFirst()) : name)
            }
            guard end < bytes.count else { return false }
            end += 1
            let name = String(decoding: bytes[at..<end], as: UTF8.self)
            at = end
            return Self.properties.contains(name)
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

        private static let named: Set<String> = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
            "word", "xdigit",
        ]

        private mutating func characterClass() -> Bool {
            if peek() == UInt8(ascii: "^") { at += 1 }
            var first = true
            while at < bytes.count {
                let byte = bytes[at]
                if byte == UInt8(ascii: "]"), !first {
                    at += 1
                    canRepeat = true
                    return true
                }
                first = false
                if byte == UInt8(ascii: "["), peek(1) == UInt8(ascii: ":") {
                    guard namedClass() else { return false }
                    continue
                }
                guard let low = classMember() else { return false }
                guard low.isOne, peek() == UInt8(ascii: "-"), peek(1) != UInt8(ascii: "]"), at + 1 < bytes.count else {
                    continue
                }
                at += 1
                // A range ends in one character, not in a class, and not before it begins.
                guard let high = classMember(), high.isOne else { return false }
                if let low = low.byte, let high = high.byte, low > high { return false }
            }
            return false
        }

        private mutating func namedClass() -> Bool {
            var end = at + 2
            while end < bytes.count, bytes[end] != UInt8(ascii: ":") { end += 1 }
            guard end + 1 < bytes.count, bytes[end + 1] == UInt8(ascii: "]") else { return false }
            let name = String(decoding: bytes[(at + 2)..<end], as: UTF8.self)
            at = end + 2
            return Self.named.contains(name.hasPrefix("^") ? String(name.dropFirst()) : name)
        }

        /// One member of a class: whether it is a single character, and its byte where that is ASCII and written plainly.
        private mutating func classMember() -> (isOne: Bool, byte: UInt8?)? {
            guard at < bytes.count else { return nil }
            let byte = bytes[at]
            at += 1
            guard byte == UInt8(ascii: "\\") else {
                // The rest of a character of several bytes.
                while byte >= 0xC0, (0x80..<0xC0).contains(peek()) { at += 1 }
                return (true, byte < 0x80 ? byte : nil)
            }
            let isClass = "dDsSwWpP".utf8.contains(peek())
            return escape() ? (!isClass, nil) : nil
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
