// What a person does at the terminal.

/// A key, a click, or text pasted in one piece.
package enum Event: Hashable, Sendable {
    case character(Unicode.Scalar)
    /// A letter with Control held, lower case.
    case control(Character)
    case enter, escape, tab, backspace, delete
    case up, down, left, right, pageUp, pageDown, home, end
    case click(row: Int, column: Int)
    case wheelUp, wheelDown
    /// Line ends are `\n`.
    case paste(String)
}

/// Turns what ncurses delivers into events; holds a paste until its end has come.
package struct EventAssembler: Sendable {
    /// What ncurses delivers, one at a time.
    package enum Input: Hashable, Sendable {
        case scalar(UInt32)
        case key(Event)
        case pasteBegin, pasteEnd
    }

    private var pasted: String.UnicodeScalarView?
    /// A paste that never ends must not fill the memory.
    private static let limit = 8 << 20

    package init() {}

    /// Takes one in; an event when one is complete.
    package mutating func take(_ input: Input) -> Event? {
        switch input {
        case .pasteBegin:
            pasted = String.UnicodeScalarView()
            return nil
        case .pasteEnd:
            guard let text = pasted else { return nil }
            pasted = nil
            return .paste(String(text))
        case .key(let event):
            guard pasted != nil else { return event }
            if event == .enter { append("\n") }
            return nil
        case .scalar(let value):
            guard let scalar = Unicode.Scalar(value) else { return nil }
            guard pasted != nil else { return Self.event(scalar) }
            append(scalar == "\r" ? "\n" : scalar)
            return nil
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if let count = pasted?.count, count < Self.limit { pasted?.append(scalar) }
    }

    private static func event(_ scalar: Unicode.Scalar) -> Event {
        switch scalar.value {
        case 0x0d, 0x0a: .enter
        case 0x1b: .escape
        case 0x09: .tab
        case 0x08, 0x7f: .backspace
        case 0x01...0x1a: .control(Character(Unicode.Scalar(UInt8(scalar.value) + 0x60)))
        default: .character(scalar)
        }
    }
}
