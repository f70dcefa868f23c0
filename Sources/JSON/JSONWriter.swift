// Writing JSON text, on one line for sockets or indented for people.

extension JSON {
    /// The text of this value as UTF-8 bytes.
    /// - Parameter pretty: indented by two spaces, one member a line; else no white space at all (and so no line feed).
    package func encoded(pretty: Bool = false) -> [UInt8] {
        var out: [UInt8] = []
        write(into: &out, indent: pretty ? 0 : nil)
        return out
    }

    /// The text of this value. See `encoded(pretty:)`.
    package func text(pretty: Bool = false) -> String { String(decoding: encoded(pretty: pretty), as: UTF8.self) }

    private func write(into out: inout [UInt8], indent: Int?) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): out.append(contentsOf: text.utf8)
        case .string(let text): Self.write(text, into: &out)
        case .array(let items):
            Self.list(items, "[", "]", into: &out, indent: indent) { item, out, inner in
                item.write(into: &out, indent: inner)
            }
        case .object(let object):
            Self.list(object.members, "{", "}", into: &out, indent: indent) { member, out, inner in
                Self.write(member.key, into: &out)
                out.append(UInt8(ascii: ":"))
                if inner != nil { out.append(0x20) }
                member.value.write(into: &out, indent: inner)
            }
        }
    }

    private static func list<Item>(
        _ items: [Item], _ open: Unicode.Scalar, _ close: Unicode.Scalar, into out: inout [UInt8], indent: Int?,
        item write: (Item, inout [UInt8], Int?) -> Void
    ) {
        out.append(UInt8(ascii: open))
        let inner = indent.map { $0 + 2 }
        for (position, item) in items.enumerated() {
            if position > 0 { out.append(UInt8(ascii: ",")) }
            if let inner { newLine(inner, into: &out) }
            write(item, &out, inner)
        }
        if let indent, !items.isEmpty { newLine(indent, into: &out) }
        out.append(UInt8(ascii: close))
    }

    private static func newLine(_ spaces: Int, into out: inout [UInt8]) {
        out.append(0x0A)
        out.append(contentsOf: repeatElement(0x20, count: spaces))
    }

    private static func write(_ text: String, into out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): out.append(contentsOf: [0x5C, 0x22])
            case UInt8(ascii: "\\"): out.append(contentsOf: [0x5C, 0x5C])
            case 0x0A: out.append(contentsOf: [0x5C, UInt8(ascii: "n")])
            case 0x0D: out.append(contentsOf: [0x5C, UInt8(ascii: "r")])
            case 0x09: out.append(contentsOf: [0x5C, UInt8(ascii: "t")])
            case 0..<0x20, 0x7F:
                let hex = Array("0123456789abcdef".utf8)
                out.append(contentsOf: [0x5C, UInt8(ascii: "u"), 0x30, 0x30, hex[Int(byte >> 4)], hex[Int(byte & 15)]])
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}
