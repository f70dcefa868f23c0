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
///
/// A key or a report that terminfo does not name arrives as Escape and letters. Those letters are nobody's typing, and some
/// are commands: a control sequence (ECMA-48, 5.4 and 5.6) that comes in one go is swallowed whole.
package struct EventAssembler: Sendable {
    /// What ncurses delivers, one at a time.
    package enum Input: Hashable, Sendable {
        case scalar(UInt32)
        case key(Event)
        case pasteBegin, pasteEnd
    }

    /// How far into a sequence that began with Escape.
    private enum Sequence: Hashable, Sendable {
        case none
        /// Escape alone so far: the key, if nothing follows at once.
        case begun
        /// `ESC [`, up to a final character.
        case control
        /// `ESC O`, and one character more.
        case single
        /// `ESC ]` and the like, up to BEL or `ESC \`.
        case string, stringEnd
    }

    private var sequence = Sequence.none
    private var pasted: String.UnicodeScalarView?
    /// A paste that never ends must not fill the memory.
    private static let limit = 8 << 20

    package init() {}

    /// Takes in all that came in one go; the events that are complete.
    package mutating func take(_ inputs: [Input]) -> [Event] {
        var events: [Event] = []
        for input in inputs {
            let before = sequence
            sequence = pasted == nil ? following(input) : .none
            if before == .begun, sequence == .none || sequence == .begun { events.append(.escape) }
            let isPart = sequence != .none || (before != .none && before != .begun && !Self.isKey(input))
            if !isPart, let event = take(input) { events.append(event) }
        }
        if sequence == .begun { events.append(.escape) }
        // The rest of a sequence comes with its beginning or not at all.
        sequence = .none
        return events
    }

    private static func isKey(_ input: Input) -> Bool {
        if case .scalar = input { return false }
        return true
    }

    private func following(_ input: Input) -> Sequence {
        guard case .scalar(let value) = input else { return .none }
        switch sequence {
        case .none: return value == 0x1b ? .begun : .none
        case .begun:
            switch value {
            case 0x1b: return .begun
            case 0x5b: return .control
            case 0x4f: return .single
            // DCS, SOS, OSC, PM, APC.
            case 0x50, 0x58, 0x5d, 0x5e, 0x5f: return .string
            default: return .none
            }
        case .control: return (0x20...0x3f).contains(value) ? .control : .none
        case .single: return .none
        case .string: return value == 0x07 ? .none : value == 0x1b ? .stringEnd : .string
        case .stringEnd: return .none
        }
    }

    private mutating func take(_ input: Input) -> Event? {
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
