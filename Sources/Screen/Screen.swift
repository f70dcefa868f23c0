// The terminal in full-screen mode: drawing rows, reading keys, always giving it back as it was.

import CNcurses
import CNcursesShims
import Linux
import Notation

/// The one owner of ncurses. Everything happens on the thread that opened it; there is at most one at a time.
///
/// The terminal is restored by `close()`, at exit(3), and on a crash by a handler that knows the sequences beforehand.
/// Signals that concern the terminal come through `signals()`.
package final class Screen {
    /// Characters arrive as UTF-8.
    package let isUnicode: Bool
    /// Colours in use; 0 without.
    package let colours: Int
    /// The terminal's rows.
    package private(set) var rows = 0
    /// The terminal's columns.
    package private(set) var columns = 0
    /// The descriptor to watch for input.
    package let input: Int32 = 0

    private let widthOf: (Unicode.Scalar) -> Int
    private var drawn: [[Run]] = []
    private var drawnCursor: (row: Int, column: Int)?
    private var assembler = EventAssembler()
    private var mustShow = true

    /// Says why the terminal cannot be used; nil when it can.
    package static func problem(term: String?) -> ScreenError? {
        guard Surroundings.isTerminal(0), Surroundings.isTerminal(1) else { return .notATerminal }
        switch cs_terminal_problem() {
        case 0: return nil
        case 1: return .noName
        case 2: return .unknown(term ?? "")
        default: return .cannotAddress(term ?? "")
        }
    }

    /// Starts full-screen mode.
    /// - Parameters:
    ///   - colour: whether colours are wanted.
    ///   - widthOf: the columns of a scalar. Where the C library, and so ncurses, thinks otherwise, question marks of the
    ///     right width are drawn, so that the columns hold.
    /// - Throws: `ScreenError`.
    package init(colour: Bool, term: String?, widthOf: @escaping (Unicode.Scalar) -> Int) throws(ScreenError) {
        if let problem = Self.problem(term: term) { throw problem }
        isUnicode = cs_locale() == 1
        guard cs_open(colour ? 1 : 0) == 0 else { throw .refused }
        colours = Int(cs_colours())
        self.widthOf = widthOf
        readSize()
    }

    /// Ends full-screen mode. Safe to call twice.
    package func close() { cs_close() }

    /// Draws the rows that differ from what is shown, and nothing when none does.
    /// - Parameter cursor: where the terminal's cursor is shown; nil hides it.
    package func draw(_ wanted: [[Run]], cursor: (row: Int, column: Int)?) {
        var changed = mustShow
        for row in 0..<rows {
            let runs = row < wanted.count ? wanted[row] : []
            guard row >= drawn.count || drawn[row] != runs else { continue }
            put(runs, row: row)
            changed = true
        }
        drawn = Array(wanted.prefix(rows))
        if drawn.count < rows { drawn.append(contentsOf: Array(repeating: [], count: rows - drawn.count)) }
        if cursor?.row != drawnCursor?.row || cursor?.column != drawnCursor?.column { changed = true }
        drawnCursor = cursor
        guard changed else { return }
        mustShow = false
        cs_show(Int32(cursor?.row ?? -1), Int32(cursor?.column ?? 0))
    }

    /// Sends everything again at the next draw: after another program wrote to the terminal.
    package func redrawAll() {
        cs_resend_all()
        mustShow = true
    }

    /// Takes over the terminal's size; call it on SIGWINCH.
    package func takeSize() {
        cs_take_size()
        readSize()
    }

    /// Gives the terminal back, stops the process, and comes back with everything redrawn.
    package func suspend() {
        cs_suspend()
        readSize()
    }

    /// The descriptor to watch for `signals()`. Takes SIGWINCH, SIGTERM, SIGHUP, SIGINT and SIGCONT from their default
    /// actions; call it before any thread exists. Corresponds to signalfd(2).
    package private(set) lazy var signalDescriptor: Int32 = cs_take_signals()

    /// The signals that came since the last call.
    package func signals() -> [TerminalSignal] {
        var signals: [TerminalSignal] = []
        while let signal = TerminalSignal(code: cs_next_signal(signalDescriptor)) { signals.append(signal) }
        return signals
    }

    /// Everything typed since the last call.
    package func events() -> [Event] {
        var inputs: [EventAssembler.Input] = []
        var raw = cs_event()
        while true {
            cs_next(&raw)
            if raw.kind == CS_NONE.rawValue { return assembler.take(inputs) }
            if let input = Self.input(raw) { inputs.append(input) }
        }
    }

    /// Puts a text on the clipboard by OSC 52, where the terminal allows it.
    package func copy(_ text: String) {
        let sequence = Array("\u{1b}]52;c;\(Base64.encode(Array(text.utf8)))\u{7}".utf8)
        sequence.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { cs_write($0.baseAddress, Int32($0.count)) }
        }
    }

    private func readSize() {
        var height: Int32 = 0
        var width: Int32 = 0
        cs_size(&height, &width)
        rows = Int(height)
        columns = Int(width)
        drawn = []
        mustShow = true
    }

    private func put(_ runs: [Run], row: Int) {
        var column = 0
        var joins = false
        for run in runs {
            let (flags, colour) = code(run.attributes)
            var cell: [UInt32] = []
            var width = 0
            func flush() {
                guard !cell.isEmpty else { return }
                if column + width <= columns {
                    cs_put(Int32(row), Int32(column), cell, Int32(cell.count), flags, colour)
                }
                column += width
                cell.removeAll(keepingCapacity: true)
            }
            for scalar in run.text.unicodeScalars {
                let columns = widthOf(scalar)
                let isKnown = scalar.isASCII || cs_width(scalar.value) == columns
                if columns > 0 { flush() }
                if isKnown {
                    cell.append(scalar.value)
                    if columns > 0 { width = columns }
                } else {
                    for _ in 0..<columns {
                        flush()
                        cell.append(0x3f)
                        width = 1
                    }
                }
                if (0x1f1e6...0x1f1ff).contains(scalar.value) { joins = true }
            }
            flush()
        }
        cs_clear_from(Int32(row), Int32(column))
        // The two halves of a flag are two cells to ncurses and one picture to the terminal: never send one alone.
        if joins { cs_resend_row(Int32(row)) }
    }

    private func code(_ attributes: Attributes) -> (flags: UInt32, colour: Int32) {
        var flags: UInt32 = 0
        if attributes.bold { flags |= UInt32(CS_BOLD) }
        if attributes.reversed { flags |= UInt32(CS_REVERSE) }
        let colour: Int32
        switch attributes.colour {
        case .standard: colour = -1
        // The pair nobody needs otherwise: black on the terminal's own background.
        case .blackOnWhite: colour = 0
        case .red: colour = 1
        case .green: colour = 2
        case .yellow: colour = 3
        case .cyan: colour = 6
        // "Bright black" is the background in popular themes; the middle of the grey ramp is not.
        case .grey: colour = colours >= 256 ? 244 : -1
        }
        if attributes.colour == .grey, colour < 0 { flags |= UInt32(CS_DIM) }
        guard colours > 0 else {
            if attributes.underlined { flags |= UInt32(CS_UNDERLINE) }
            return (flags, 0)
        }
        return (flags, colour + 1)
    }

    private static func input(_ raw: cs_event) -> EventAssembler.Input? {
        switch raw.kind {
        case Int32(CS_CHARACTER.rawValue): return .scalar(raw.value)
        case Int32(CS_CLICK.rawValue): return .key(.click(row: Int(raw.row), column: Int(raw.column)))
        case Int32(CS_WHEEL_UP.rawValue): return .key(.wheelUp)
        case Int32(CS_WHEEL_DOWN.rawValue): return .key(.wheelDown)
        case Int32(CS_KEY.rawValue): return key(raw.value)
        default: return nil
        }
    }

    private static func key(_ value: UInt32) -> EventAssembler.Input? {
        switch cs_key(rawValue: value) {
        case CS_KEY_UP: .key(.up)
        case CS_KEY_DOWN: .key(.down)
        case CS_KEY_LEFT: .key(.left)
        case CS_KEY_RIGHT: .key(.right)
        case CS_KEY_PAGE_UP: .key(.pageUp)
        case CS_KEY_PAGE_DOWN: .key(.pageDown)
        case CS_KEY_HOME: .key(.home)
        case CS_KEY_END: .key(.end)
        case CS_KEY_ENTER: .key(.enter)
        case CS_KEY_BACKSPACE: .key(.backspace)
        case CS_KEY_DELETE: .key(.delete)
        case CS_KEY_PASTE_BEGIN: .pasteBegin
        case CS_KEY_PASTE_END: .pasteEnd
        default: nil
        }
    }
}
