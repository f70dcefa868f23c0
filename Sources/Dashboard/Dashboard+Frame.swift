// Putting the parts of the screen together for a size.

import Messages

extension Dashboard {
    /// The smallest screen on which anything sensible fits.
    static let smallest = Size(columns: 32, rows: 8)

    /// Draws everything for a size. Scrolls so that the cursor is seen, and remembers what lies where for clicks.
    /// - Parameter now: seconds since 1970.
    package mutating func frame(_ size: Size, now: Double) -> Frame {
        var frame = Frame(size: size)
        if size.columns < Self.smallest.columns || size.rows < Self.smallest.rows {
            for text in TerminalText.wrap(Words.tooSmall(size, Self.smallest)(language), to: max(1, size.columns))
            where frame.rows.count < size.rows {
                frame.rows.append(row(text, Style(.fair), size))
            }
        } else if panel == .code {
            drawCode(&frame)
        } else {
            drawCard(&frame, now: now)
            let keys = keyRows(size)
            let messages = messageRows(size, now: now)
            let end = size.rows - keys.rows.count - messages.count
            drawPanel(&frame, rows: max(1, end - frame.rows.count), now: now)
            if frame.rows.count > end { frame.rows.removeLast(frame.rows.count - end) }
            while frame.rows.count < end { frame.rows.append(Row(limit: size.columns, glyphs)) }
            frame.rows.append(contentsOf: messages)
            frame.rows.append(contentsOf: keys.rows)
            frame.hits.append(contentsOf: keys.hits)
        }
        last = frame
        return frame
    }

    func row(_ text: String, _ style: Style, _ size: Size) -> Row {
        var row = Row(limit: size.columns, glyphs)
        row.add(text, style)
        return row
    }

    private mutating func drawPanel(_ frame: inout Frame, rows: Int, now: Double) {
        switch panel {
        case .lines: drawLines(&frame, rows: rows, now: now)
        case .help: drawHelp(&frame, rows: rows)
        case .logs: drawLogs(&frame, rows: rows)
        case .connections: drawConnections(&frame, rows: rows)
        case .paste: drawPaste(&frame, rows: rows)
        case .code: break
        }
    }

    /// The rows above the keys, one at least: a question, a countdown, an announcement, or more about the line under the cursor.
    private func messageRows(_ size: Size, now: Double) -> [Row] {
        guard let (text, style) = message(now: now) else { return [Row(limit: size.columns, glyphs)] }
        let most = size.rows >= 20 ? 3 : size.rows >= 12 ? 2 : 1
        let lines = TerminalText.wrap(TerminalText.settle(text(language), glyphs), to: size.columns - 2)
        return lines.prefix(most).map { row(" " + $0, style, size) }
    }

    private func message(now: Double) -> (Text, Style)? {
        if let question {
            return (question == .unguard ? Words.unguard : Words.closeAll, Style(.fair, bold: true))
        }
        if let until = snapshot.connection.confirmBy, until > now {
            return (Words.undoIn(Int((until - now).rounded(.up))), Style(.fair, bold: true))
        }
        if let announcement = snapshot.announcement, announcement.until > now {
            return switch announcement.weight {
            case .calm: (announcement.text, Style(.accent))
            case .good: (announcement.text, Style(.good))
            case .warning: (announcement.text, Style(.fair))
            case .error: (announcement.text, Style(.bad, bold: true))
            }
        }
        if panel == .lines, let why = currentLine?.unusable { return (Words.cannotUse(why), Style(.fair)) }
        return nil
    }

    // MARK: Keys

    private struct KeyLabel {
        let name: String
        let meaning: Text
        let key: Key
        /// Lower goes first when there is no room.
        let weight: Int

        init(_ name: String, _ meaning: Text, _ key: Key, _ weight: Int = 5) {
            self.name = name
            self.meaning = meaning
            self.key = key
            self.weight = weight
        }
    }

    private func keyRows(_ size: Size) -> (rows: [Row], hits: [Hit]) {
        let lines = size.rows >= 20 ? 2 : 1
        var labels = keyLabels()
        var placed = layOut(labels, columns: size.columns, rows: lines)
        while placed == nil, let least = labels.indices.min(by: { labels[$0].weight < labels[$1].weight }) {
            labels.remove(at: least)
            placed = layOut(labels, columns: size.columns, rows: lines)
        }
        let arranged = placed ?? []
        var rows: [Row] = []
        var hits: [Hit] = []
        for (number, labels) in arranged.enumerated() {
            var row = Row(limit: size.columns, glyphs)
            row.add(" ")
            for label in labels {
                let start = row.width
                row.add(label.name, Style(.accent, bold: true))
                row.add(" " + label.meaning(language))
                let place = size.rows - arranged.count + number
                hits.append(Hit(row: place, columns: start..<row.width, target: .key(label.key)))
                if row.room > 2 { row.add("  ") }
            }
            rows.append(row)
        }
        return (rows, hits)
    }

    private func layOut(_ labels: [KeyLabel], columns: Int, rows: Int) -> [[KeyLabel]]? {
        var result: [[KeyLabel]] = [[]]
        var used = 1
        for label in labels {
            let text = TerminalText.settle(label.name + " " + label.meaning(language), glyphs)
            let width = DisplayWidth.cells(text)
            if used + width > columns {
                if result.count == rows { return nil }
                result.append([])
                used = 1
            }
            result[result.count - 1].append(label)
            used += width + 2
        }
        return result
    }

    private func keyLabels() -> [KeyLabel] {
        let enter = Words.enter(language)
        switch panel {
        case .lines where isFiltering:
            return [KeyLabel(enter, Words.keySelect, .enter), KeyLabel("Esc", Words.keyCancel, .escape)]
        case .lines:
            let toggle = snapshot.connection.isOn ? Words.keyDisconnect : Words.keyConnect
            return [
                KeyLabel(Words.space(language), toggle, .character(" "), 9),
                KeyLabel(enter, Words.keySelect, .enter, 8),
                KeyLabel("t", isTesting ? Words.keyCancel : Words.keyTest, .character("t"), 7),
                KeyLabel("/", Words.keyFilter, .character("/"), 6), KeyLabel("s", Words.keySort, .character("s")),
                KeyLabel("m", Words.keyMode, .character("m")), KeyLabel("k", Words.keyKill, .character("k")),
                KeyLabel("u", Words.keyUpdate, .character("u"), 4),
                KeyLabel("i", Words.keyImport, .character("i"), snapshot.hasSubscription ? 4 : 10),
                KeyLabel("l", Words.keyLogs, .character("l"), 3),
                KeyLabel("r", Words.keyCode, .character("r"), 2),
                KeyLabel("c", Words.keyConnections, .character("c"), 3),
                KeyLabel("?", Words.keyHelp, .character("?"), 11), KeyLabel("q", Words.keyQuit, .character("q"), 10),
            ]
        case .help: return [KeyLabel("Esc", Words.keyBack, .escape), KeyLabel("↑↓", Words.keyScroll, .down, 1)]
        case .logs:
            var labels = [
                KeyLabel("Esc", Words.keyBack, .escape), KeyLabel("↑↓←→", Words.keyScroll, .down, 1),
                KeyLabel("Tab", Words.keySource, .tab), KeyLabel("y", Words.keyCopy, .character("y")),
            ]
            if snapshot.logSource == .controller { labels.append(KeyLabel("x", Words.keyClear, .character("x"))) }
            return labels
        case .connections:
            return [
                KeyLabel("Esc", Words.keyBack, .escape), KeyLabel("↑↓", Words.keyScroll, .down, 1),
                KeyLabel("x", Words.keyClose, .character("x")), KeyLabel("X", Words.keyCloseAll, .character("X")),
            ]
        case .code: return [KeyLabel("Esc", Words.keyBack, .escape)]
        case .paste:
            return [KeyLabel(enter, Words.keyImportNow, .enter), KeyLabel("Esc", Words.keyCancel, .escape)]
        }
    }
}
