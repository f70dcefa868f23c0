// Reading JSON text: strict for our own files and sockets, lenient in the ways the engine is for configurations.

/// Why a text is not JSON, and where.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    /// What is wrong at that place, as a short English phrase without any of the text itself (it may hold secrets).
    package let problem: String
    /// The line, from 1.
    package let line: Int
    /// The byte in that line, from 1.
    package let column: Int

    package var description: String { "line \(line), column \(column): \(problem)" }
}

extension JSON {
    /// How forgiving the parser is.
    package enum Dialect: Sendable {
        /// RFC 8259 and nothing else.
        case strict
        /// As sing-box reads configurations: `//`, `#` and `/* */` comments, trailing commas, a byte-order mark.
        case lenient
    }

    /// Reads one JSON document.
    /// - Parameters:
    ///   - bytes: UTF-8 text.
    ///   - dialect: strict or as forgiving as the engine.
    ///   - maximumDepth: how deep arrays and objects may nest; deeper is an error, never a stack overflow.
    /// - Throws: `JSONError` with the place.
    package static func parse(
        _ bytes: [UInt8], dialect: Dialect = .strict, maximumDepth: Int = 64
    ) throws(JSONError) -> JSON {
        let result: Result<JSON, JSONError> = bytes.withUnsafeBufferPointer { buffer in
            var parser = JSONParser(bytes: buffer, lenient: dialect == .lenient, maximumDepth: maximumDepth)
            do throws(JSONError) { return .success(try parser.document()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Reads one JSON document from a string. See `parse(_:dialect:maximumDepth:)`.
    package static func parse(
        _ text: String, dialect: Dialect = .strict, maximumDepth: Int = 64
    ) throws(JSONError) -> JSON {
        try parse(Array(text.utf8), dialect: dialect, maximumDepth: maximumDepth)
    }
}

private struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    let lenient: Bool
    let maximumDepth: Int
    var at = 0
    var depth = 0

    init(bytes: UnsafeBufferPointer<UInt8>, lenient: Bool, maximumDepth: Int) {
        self.bytes = bytes
        self.lenient = lenient
        self.maximumDepth = maximumDepth
        if lenient, bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { at = 3 }
    }

    func error(_ problem: String) -> JSONError {
        var line = 1
        var lineStart = 0
        for position in 0..<min(at, bytes.count) where bytes[position] == UInt8(ascii: "\n") {
            line += 1
            lineStart = position + 1
        }
        return JSONError(problem: problem, line: line, column: min(at, bytes.count) - lineStart + 1)
    }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value()
        try skipSpace()
        guard at == bytes.count else { throw error("text after the end of the document") }
        return value
    }

    mutating func value() throws(JSONError) -> JSON {
        try skipSpace()
        guard at < bytes.count else { throw error("the document ends too early") }
        switch bytes[at] {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("a value is expected here")
        }
    }

    mutating func skipSpace() throws(JSONError) {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x09, 0x0A, 0x0D: at += 1
            case UInt8(ascii: "#") where lenient: skipLine()
            case UInt8(ascii: "/") where lenient && at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "/"):
                skipLine()
            case UInt8(ascii: "/") where lenient && at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "*"):
                try skipComment()
            default: return
            }
        }
    }

    mutating func skipLine() {
        while at < bytes.count, bytes[at] != 0x0A { at += 1 }
    }

    mutating func skipComment() throws(JSONError) {
        let start = at
        at += 2
        while at + 1 < bytes.count {
            if bytes[at] == UInt8(ascii: "*"), bytes[at + 1] == UInt8(ascii: "/") {
                at += 2
                return
            }
            at += 1
        }
        at = start
        throw error("a comment is never closed")
    }

    mutating func word(_ text: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let count = text.utf8CodeUnitCount
        guard at + count <= bytes.count else { throw error("a value is expected here") }
        for offset in 0..<count where bytes[at + offset] != text.utf8Start[offset] {
            throw error("a value is expected here")
        }
        at += count
        return value
    }

    mutating func enter() throws(JSONError) {
        depth += 1
        guard depth <= maximumDepth else { throw error("nested more than \(maximumDepth) deep") }
        at += 1
    }

    mutating func object() throws(JSONError) -> JSON {
        try enter()
        var members = JSONObject()
        try skipSpace()
        while true {
            guard at < bytes.count else { throw error("an object is never closed") }
            if bytes[at] == UInt8(ascii: "}"), members.isEmpty || lenient { break }
            guard bytes[at] == UInt8(ascii: "\"") else { throw error("a key in quotes is expected here") }
            let key = try string()
            try skipSpace()
            guard at < bytes.count, bytes[at] == UInt8(ascii: ":") else { throw error("a colon is expected here") }
            at += 1
            members[key] = try value()
            try skipSpace()
            guard at < bytes.count else { throw error("an object is never closed") }
            if bytes[at] == UInt8(ascii: "}") { break }
            guard bytes[at] == UInt8(ascii: ",") else { throw error("a comma is expected here") }
            at += 1
            try skipSpace()
            if !lenient, at < bytes.count, bytes[at] == UInt8(ascii: "}") { throw error("a key is expected here") }
        }
        at += 1
        depth -= 1
        return .object(members)
    }

    mutating func array() throws(JSONError) -> JSON {
        try enter()
        var items: [JSON] = []
        try skipSpace()
        while true {
            guard at < bytes.count else { throw error("a list is never closed") }
            if bytes[at] == UInt8(ascii: "]"), items.isEmpty || lenient { break }
            items.append(try value())
            try skipSpace()
            guard at < bytes.count else { throw error("a list is never closed") }
            if bytes[at] == UInt8(ascii: "]") { break }
            guard bytes[at] == UInt8(ascii: ",") else { throw error("a comma is expected here") }
            at += 1
            try skipSpace()
            if !lenient, at < bytes.count, bytes[at] == UInt8(ascii: "]") { throw error("a value is expected here") }
        }
        at += 1
        depth -= 1
        return .array(items)
    }

    mutating func digits() -> Int {
        let start = at
        while at < bytes.count, bytes[at] >= UInt8(ascii: "0"), bytes[at] <= UInt8(ascii: "9") { at += 1 }
        return at - start
    }

    mutating func number() throws(JSONError) -> JSON {
        let start = at
        if bytes[at] == UInt8(ascii: "-") { at += 1 }
        let leadingZero = at < bytes.count && bytes[at] == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, whole == 1 || !leadingZero else { throw error("not a number JSON allows") }
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            at += 1
            guard digits() > 0 else { throw error("not a number JSON allows") }
        }
        if at < bytes.count, bytes[at] == UInt8(ascii: "e") || bytes[at] == UInt8(ascii: "E") {
            at += 1
            if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") { at += 1 }
            guard digits() > 0 else { throw error("not a number JSON allows") }
        }
        return .number(String(decoding: bytes[start..<at], as: UTF8.self))
    }

    mutating func string() throws(JSONError) -> String {
        at += 1
        let start = at
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: bytes[start..<at], as: UTF8.self) else {
                    throw error("a string is not UTF-8")
                }
                at += 1
                return text
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard byte >= 0x20 else { throw error("a control character inside a string") }
            at += 1
        }
        throw error("a string is never closed")
    }

    mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var out = Array(bytes[start..<at])
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: out, as: UTF8.self) else { throw error("a string is not UTF-8") }
                return text
            case UInt8(ascii: "\\"):
                try escape(into: &out)
            case 0..<0x20:
                throw error("a control character inside a string")
            default:
                out.append(byte)
            }
        }
        throw error("a string is never closed")
    }

    mutating func escape(into out: inout [UInt8]) throws(JSONError) {
        guard at < bytes.count else { throw error("a string is never closed") }
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0C)
        case UInt8(ascii: "n"): out.append(0x0A)
        case UInt8(ascii: "r"): out.append(0x0D)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"):
            var scalar = UInt32(try hex4())
            if scalar >> 10 == 0x36, at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"),
                bytes[at + 1] == UInt8(ascii: "u")
            {
                let back = at
                at += 2
                let low = UInt32(try hex4())
                if low >> 10 == 0x37 {
                    scalar = 0x10000 + ((scalar & 0x3FF) << 10) + (low & 0x3FF)
                } else {
                    at = back
                }
            }
            // An unpaired surrogate becomes U+FFFD, as in the engine's parser.
            out.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
        default:
            throw error("an escape JSON does not know")
        }
    }

    mutating func hex4() throws(JSONError) -> UInt16 {
        guard at + 4 <= bytes.count else { throw error("a \\u escape needs four hex digits") }
        var value: UInt16 = 0
        for _ in 0..<4 {
            let byte = bytes[at]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw error("a \\u escape needs four hex digits")
            }
            value = value << 4 | UInt16(digit)
            at += 1
        }
        return value
    }
}
