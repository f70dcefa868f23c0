// The screen's own state: what is shown, where the cursor is, what is being typed.

package import Messages

/// The one screen, as a value: it is told things and keys, and says what to draw and what to do.
package struct Dashboard: Sendable {
    /// What fills the part under the card.
    package enum Panel: Hashable, Sendable {
        case lines, help, logs, connections, paste, code
    }

    /// A question that the next key answers.
    enum Question: Hashable, Sendable {
        case unguard, closeAll
    }

    /// What is told from outside. Use `update` where the lines change, so that the cursor stays on its line.
    package internal(set) var snapshot = Snapshot()
    /// The language of every word.
    package let language: Language
    /// What the terminal can draw.
    package let glyphs: Glyphs
    /// The panel in view.
    package internal(set) var panel = Panel.lines
    /// The text names of lines must hold; empty for all.
    package internal(set) var filter = ""
    /// The order of lines.
    package internal(set) var sort = Sort.order

    var isFiltering = false
    var pasted = ""
    /// The subscription's link as a QR code, while it is shown and not longer.
    var code: ModuleGrid?
    var question: Question?
    /// Places of the lines shown, in order.
    var shown: [Int] = []
    var cursor = Scroller()
    var logScroller = Scroller(follows: true)
    /// Columns of the log that are left of what is seen.
    var logShift = 0
    var connectionScroller = Scroller()
    var helpScroller = Scroller()
    /// The last frame: what clicks refer to.
    var last = Frame(size: Size(columns: 0, rows: 0))

    package init(language: Language, glyphs: Glyphs) {
        // What a terminal cannot draw is no use in any language.
        self.language = glyphs.unicode ? language : .english
        self.glyphs = glyphs
    }

    /// Changes what is told from outside.
    package mutating func update(_ change: (inout Snapshot) -> Void) {
        let countBefore = snapshot.lines.items.count
        let wasTesting = isTesting
        change(&snapshot)
        if countBefore != snapshot.lines.items.count {
            arrange()
        } else if wasTesting, !isTesting {
            // Rows keep their places while figures come in, and are put in order when all are there.
            arrange()
        }
        logScroller.setCount(snapshot.logLines.count)
        connectionScroller.setCount(snapshot.connections.count)
    }

    /// Replaces all lines; the cursor stays on its line, or goes to the selected one.
    package mutating func setLines(_ lines: LineTable) {
        let before = currentLine?.id
        snapshot.lines = lines
        rearrange(keeping: before ?? snapshot.selected)
    }

    /// The line under the cursor.
    package var currentLine: LineItem? {
        shown.indices.contains(cursor.position) ? snapshot.lines.items[shown[cursor.position]] : nil
    }

    /// The selected line.
    var selectedLine: LineItem? { snapshot.selected.flatMap { snapshot.lines.line($0) } }

    var isTesting: Bool {
        if case .testing = snapshot.activity { return true }
        return false
    }

    /// Puts the lines in order again, the cursor staying on its line.
    mutating func arrange() { rearrange(keeping: currentLine?.id ?? snapshot.selected) }

    private mutating func rearrange(keeping id: String?) {
        shown = snapshot.lines.arrange(filter: filter, sort: sort)
        cursor.setCount(shown.count)
        if let id, let place = snapshot.lines.place(of: id), let position = shown.firstIndex(of: place) {
            cursor.move(to: position)
        } else {
            cursor.move(to: 0)
        }
    }

    /// Shows the subscription's link, until the next key.
    package mutating func show(_ code: ModuleGrid) {
        self.code = code
        panel = .code
    }

    /// Shows a text above the keys for a while.
    package mutating func announce(_ text: Text, _ weight: Announcement.Weight, now: Double, seconds: Double = 6) {
        snapshot.announcement = Announcement(text, weight, until: now + seconds)
    }

    /// When what is shown changes by the passing of time alone; nil when it does not. Seconds since 1970.
    package func nextChange(now: Double) -> Double? {
        var moments: [Double] = []
        if let announcement = snapshot.announcement, announcement.until > now { moments.append(announcement.until) }
        if let since = snapshot.connection.since, snapshot.connection.isOn {
            moments.append(now + 1 - (now - since).truncatingRemainder(dividingBy: 1))
        }
        if let until = snapshot.connection.confirmBy, until > now {
            moments.append(now + (until - now).truncatingRemainder(dividingBy: 1) + 0.01)
        }
        if panel == .lines {
            for position in cursor.visible {
                switch snapshot.lines.items[shown[position]].latency {
                case .measured(_, let at), .failed(_, let at): moments.append(now + Figures.ageChanges(in: now - at))
                case .unknown, .testing: break
                }
            }
        }
        return moments.min()
    }
}

/// A position in a list and the part of the list that is seen.
struct Scroller: Hashable, Sendable {
    private(set) var position = 0
    private(set) var top = 0
    private(set) var count = 0
    private(set) var height = 1
    /// Stays at the end when it is there and the list grows.
    private let follows: Bool

    init(follows: Bool = false) { self.follows = follows }

    /// Positions that are seen.
    var visible: Range<Int> { top..<max(top, min(count, top + height)) }

    mutating func setCount(_ count: Int) {
        let atEnd = follows && position >= self.count - 1
        self.count = count
        move(to: atEnd ? count - 1 : position)
    }

    mutating func setHeight(_ height: Int) {
        guard height != self.height else { return }
        self.height = max(1, height)
        // What the position is at stays in view, with as much before it as after it.
        if !follows { top = position - self.height / 2 }
        move(to: position)
    }

    mutating func move(to position: Int) {
        self.position = max(0, min(position, count - 1))
        if self.position < top { top = self.position }
        if self.position >= top + height { top = self.position - height + 1 }
        top = max(0, min(top, count - height))
    }

    /// Moves what is seen, the position following where it must: what a mouse's wheel does.
    mutating func scroll(by rows: Int) {
        top = max(0, min(top + rows, count - height))
        position = max(top, min(position, top + height - 1, count - 1))
        position = max(0, position)
    }

    /// Moves by a key; false when the key is not one that moves.
    mutating func handle(_ key: Key) -> Bool {
        switch key {
        case .up: move(to: position - 1)
        case .down: move(to: position + 1)
        case .pageUp: move(to: position - height)
        case .pageDown: move(to: position + height)
        case .home: move(to: 0)
        case .end: move(to: count - 1)
        case .wheelUp: scroll(by: -3)
        case .wheelDown: scroll(by: 3)
        default: return false
        }
        return true
    }
}
