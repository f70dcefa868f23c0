// What can stand in the list's place: help, logs, live connections, the field for a link.

import Messages

extension Dashboard {
    private func heading(_ title: Text, _ right: String, _ size: Size) -> Row {
        var left = Row(limit: size.columns, glyphs)
        left.add(" " + title(language), Style(bold: true))
        var end = Row(limit: size.columns, glyphs)
        end.add(right + " ", .faint)
        return joined(left, end, size.columns)
    }

    private func range(_ scroller: Scroller) -> String {
        scroller.count > scroller.height
            ? "\(scroller.top + 1)-\(scroller.visible.upperBound)/\(scroller.count)" : ""
    }

    mutating func drawHelp(_ frame: inout Frame, rows: Int) {
        // The widest name of keys sets the column.
        let settled = Words.helpRows.map { TerminalText.settle($0.keys(language), glyphs) }
        let field = (settled.map { DisplayWidth.cells($0) }.max() ?? 0) + 2
        var lines: [(keys: String, text: String)] = []
        for (number, entry) in Words.helpRows.enumerated() {
            let text = TerminalText.settle(entry.meaning(language), glyphs)
            for (part, line) in TerminalText.wrap(text, to: max(8, frame.size.columns - field - 2)).enumerated() {
                lines.append((part == 0 ? settled[number] : "", line))
            }
        }
        helpScroller.setHeight(rows - 1)
        // Help has no cursor: its position is the first line seen.
        helpScroller.setCount(max(1, lines.count))
        frame.rows.append(heading(Words.help, range(helpScroller), frame.size))
        for line in helpScroller.visible {
            var row = Row(limit: frame.size.columns, glyphs)
            row.add(" ")
            row.add(lines[line].keys, Style(.accent, bold: true), field: field)
            row.add(lines[line].text)
            frame.rows.append(row)
        }
    }

    mutating func drawLogs(_ frame: inout Frame, rows: Int) {
        logScroller.setHeight(rows - 1)
        let title = Words.logs + Text(verbatim: " · ") + Words.source(snapshot.logSource)
        frame.rows.append(heading(title, range(logScroller), frame.size))
        if snapshot.logLines.isEmpty { frame.rows.append(row(" " + Words.noLogs(language), .faint, frame.size)) }
        for line in logScroller.visible {
            let text = snapshot.logLines[line]
            let tone: Tone =
                text.contains("ERROR") || text.contains("FATAL") ? .bad : text.contains("WARN") ? .fair : .plain
            let shifted = TerminalText.dropping(logShift, of: TerminalText.settle(text, glyphs))
            frame.rows.append(row(" " + shifted, Style(tone), frame.size))
        }
    }

    mutating func drawConnections(_ frame: inout Frame, rows: Int) {
        connectionScroller.setHeight(rows - 1)
        let count = snapshot.connections.count
        frame.rows.append(
            heading(Words.liveConnections + Text(verbatim: " \(count)"), range(connectionScroller), frame.size))
        if count == 0 { frame.rows.append(row(" " + Words.noConnections(language), .faint, frame.size)) }
        let columns = frame.size.columns
        let bytes = columns >= 50 ? 20 : 0
        let rest = columns - 2 - bytes
        let host = columns >= 60 ? rest * 45 / 100 : rest
        for position in connectionScroller.visible {
            let connection = snapshot.connections[position]
            let isCursor = position == connectionScroller.position
            func style(_ tone: Tone) -> Style { isCursor ? Style(tone).underCursor : Style(tone) }
            var row = Row(limit: columns, glyphs)
            row.add(isCursor ? (glyphs.unicode ? "▸" : ">") : " ", style(.accent))
            row.add(connection.host, style(.plain), field: host)
            if host < rest {
                row.add(" ", style(.plain))
                row.add(connection.line, style(.accent), field: (rest - host) / 2 - 1)
                row.add(" ", style(.plain))
                row.add(connection.rule, style(.faint), field: rest - host - (rest - host) / 2 - 1)
            }
            if bytes > 0 {
                let text =
                    "\(arrow(down: true))\(Figures.bytes(connection.down)) \(arrow(down: false))\(Figures.bytes(connection.up))"
                row.add(text, style(.plain), field: bytes, rightAligned: true)
            }
            row.pad(to: columns, style(.plain))
            frame.hits.append(Hit(row: frame.rows.count, columns: 0..<columns, target: .item(position)))
            frame.rows.append(row)
        }
    }

    mutating func drawPaste(_ frame: inout Frame, rows: Int) {
        frame.rows.append(heading(Words.paste, "", frame.size))
        frame.rows.append(row("", .plain, frame.size))
        var field = Row(limit: frame.size.columns, glyphs)
        field.add(" > ", Style(.accent, bold: true))
        field.add(masked, Style(bold: true))
        frame.cursor = (frame.rows.count, min(frame.size.columns - 1, field.width))
        frame.rows.append(field)
        if !pasted.isEmpty {
            let lines = pasted.trimmingBlanks().split(whereSeparator: \.isNewline).count
            frame.rows.append(row("   " + Words.pasted(pasted.count, lines)(language), .faint, frame.size))
        }
        frame.rows.append(row("", .plain, frame.size))
        for hint in [Words.pasteHint, Words.pasteSecret] {
            for text in TerminalText.wrap(TerminalText.settle(hint(language), glyphs), to: frame.size.columns - 3) {
                frame.rows.append(row(" " + text, .faint, frame.size))
            }
        }
    }

    /// The link's QR code, which gets the whole screen but the last row: it is large, and the card says nothing to a camera.
    func drawCode(_ frame: inout Frame) {
        guard let code else { return }
        let size = frame.size
        let drawing: ModuleGrid.Drawing = glyphs.unicode ? .halfBlocks : .blanks
        guard let rows = code.drawn(drawing, columns: size.columns, rows: size.rows - 1) else {
            let needed = code.cells(drawing)
            let text = Words.noRoomForCode((needed.columns, needed.rows + 1), size)(language)
            for line in TerminalText.wrap(TerminalText.settle(text, glyphs), to: size.columns - 2)
            where frame.rows.count < size.rows {
                frame.rows.append(row(" " + line, Style(.fair), size))
            }
            while frame.rows.count < size.rows { frame.rows.append(Row(limit: size.columns, glyphs)) }
            return
        }
        let width = rows[0].reduce(0) { $0 + $1.text.count }
        for pieces in rows {
            var row = Row(limit: size.columns, glyphs)
            row.pad(to: (size.columns - width) / 2)
            for piece in pieces { row.add(piece.text, Style(.printed, reversed: piece.isInverted)) }
            frame.rows.append(row)
        }
        while frame.rows.count < size.rows - 1 { frame.rows.append(Row(limit: size.columns, glyphs)) }
        frame.rows.append(row(" " + Words.codeIsSecret(language), Style(.fair, bold: true), size))
    }

    /// What is shown of a pasted secret: scheme and host of a web address, else the scheme only; dots for the rest.
    /// A host with credentials before it (`user:password@`) is not shown at all.
    var masked: String {
        let dots = glyphs.unicode ? "•" : "*"
        // A link that came in pieces is one link.
        let text = pasted.split(whereSeparator: \.isNewline).map { String($0).trimmingBlanks() }.joined()
        guard let colon = text.range(of: "://") else { return String(repeating: dots, count: min(24, text.count)) }
        let scheme = text[..<colon.upperBound]
        let isShort =
            scheme.count <= 16 && scheme.dropLast(3).allSatisfy { $0.isASCII && ($0.isLetter || "+-.".contains($0)) }
        guard isShort else { return String(repeating: dots, count: min(24, text.count)) }
        let rest = text[colon.upperBound...]
        guard !rest.isEmpty else { return String(scheme) }
        let isWeb = scheme == "https://" || scheme == "http://"
        let end = rest.firstIndex { "/?#".contains($0) }
        guard isWeb, let end, !rest[..<end].contains("@") else {
            return scheme + String(repeating: dots, count: min(24, rest.count))
        }
        return scheme + rest[...end]
            + String(repeating: dots, count: min(24, rest.distance(from: end, to: rest.endIndex) - 1))
    }
}

extension String {
    /// The first place where a text occurs. The standard library alone has no such search without a regular expression.
    fileprivate func range(of needle: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(needle) { return start..<index(start, offsetBy: needle.count) }
            start = index(after: start)
        }
        return nil
    }
}
