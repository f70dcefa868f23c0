// Why a terminal cannot show a full screen.

/// A terminal that cannot be used.
package enum ScreenError: Error, Hashable, Sendable {
    /// Standard input or output is no terminal.
    case notATerminal
    /// `TERM` is not set.
    case noName
    /// terminfo(5) does not know this `TERM`.
    case unknown(String)
    /// The terminal cannot address its cursor (`TERM=dumb`).
    case cannotAddress(String)
    /// ncurses would not start.
    case refused
}
