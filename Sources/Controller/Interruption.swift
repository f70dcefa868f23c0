// Ctrl-C, taken by a verb that has something to say about it.

import Linux

/// Takes Ctrl-C for as long as it lives.
final class Interruption {
    private let signals: SignalWatch
    private var isNoticed = false

    init() throws(SystemCallError) { signals = try SignalWatch(SignalWatch.interrupt) }

    /// True once Ctrl-C was pressed.
    var hasCome: Bool {
        if signals.next() != nil { isNoticed = true }
        return isNoticed
    }
}
