// What a person does to the screen, and what the screen wants done because of it.

/// A key, a click or a paste.
package enum Key: Hashable, Sendable {
    case character(Character)
    case enter, escape, tab, backspace, delete
    case up, down, left, right, pageUp, pageDown, home, end
    /// A letter with Control held, lower case.
    case control(Character)
    case click(row: Int, column: Int)
    case wheelUp, wheelDown
    /// Text pasted in one piece.
    case paste(String)
}

/// Something only the program around the dashboard can do.
package enum Intent: Hashable, Sendable {
    /// Use this line, at once when connected.
    case select(String)
    case connect
    case disconnect
    /// Keep a connection that would otherwise be undone.
    case confirm
    case setMode(Mode)
    case setKillSwitch(Bool)
    /// Measure these lines; all when empty.
    case test([String])
    /// Stop a test, an import or an update.
    case cancel
    case update
    /// A link or pasted lines: a secret.
    case importSource(String)
    /// Show the subscription's link as a QR code.
    case showLink
    case showLogs(LogSource)
    case hideLogs
    case clearLogs
    case showConnections
    case hideConnections
    case closeConnection(String)
    case closeAllConnections
    /// Put a text on the terminal's clipboard.
    case copy(String)
    case redraw
    case suspend
    case quit
}
