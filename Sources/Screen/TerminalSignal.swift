// Signals that concern the terminal.

import CNcursesShims

/// A signal as the screen sees it.
package enum TerminalSignal: Sendable {
    /// The terminal has another size.
    case resized
    /// The process is to end: the terminal is gone, or somebody asked.
    case end
    /// The process was stopped and goes on; others wrote to the terminal meanwhile.
    case continued

    init?(code: Int32) {
        switch code {
        case Int32(CS_SIGNAL_RESIZED.rawValue): self = .resized
        case Int32(CS_SIGNAL_END.rawValue): self = .end
        case Int32(CS_SIGNAL_CONTINUED.rawValue): self = .continued
        default: return nil
        }
    }
}
