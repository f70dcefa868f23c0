// The status card: state, switch, line, mode, traffic, quota.

import Messages

extension Dashboard {
    /// Draws the card at the top: framed where there is room, two or three bare rows elsewhere.
    func drawCard(_ frame: inout Frame, now: Double) {
        let framed = frame.size.columns >= 60 && frame.size.rows >= 16
        let inner = framed ? frame.size.columns - 4 : frame.size.columns - 1
        var rows = [stateRow(inner, now: now)]
        if inner >= 56 {
            rows.append(joined(lineRow(inner - settingsRow(inner).width - 2), settingsRow(inner), inner))
        } else {
            rows.append(lineRow(inner))
            if frame.size.rows >= 11 { rows.append(settingsRow(inner)) }
        }
        if framed || frame.size.rows >= 12 { rows.append(trafficRow(inner)) }
        if framed { rows.append(quotaRow(inner, now: now)) }
        rows.append(contentsOf: problemRows(inner, most: framed ? 3 : 1))
        let top = frame.rows.count + (framed ? 1 : 0)
        let left = framed ? 2 : 1
        if framed { frame.rows.append(border(top: true, frame.size)) }
        for row in rows { frame.rows.append(framed ? boxed(row, frame.size) : shifted(row, frame.size)) }
        if framed { frame.rows.append(border(top: false, frame.size)) }
        let place = switchColumns(inner)
        frame.hits.append(
            Hit(row: top, columns: place.lowerBound + left..<place.upperBound + left, target: .toggle))
    }

    private var phaseStyle: Style {
        switch snapshot.connection.phase {
        case .connected: Style(snapshot.connection.proof == .silent ? .fair : .good, bold: true)
        case .connecting, .reconnecting, .disconnecting: Style(.fair, bold: true)
        case .blocked, .unavailable: Style(.bad, bold: true)
        case .unknown, .disconnected: Style(.plain, bold: true)
        }
    }

    private var phaseMark: String {
        guard glyphs.unicode else {
            return switch snapshot.connection.phase {
            case .connected: "*"
            case .connecting, .reconnecting, .disconnecting: "~"
            case .blocked, .unavailable: "!"
            case .unknown, .disconnected: "o"
            }
        }
        return switch snapshot.connection.phase {
        case .connected: "●"
        case .connecting, .reconnecting, .disconnecting: "◌"
        case .blocked, .unavailable: "■"
        case .unknown, .disconnected: "○"
        }
    }

    private var switchText: String {
        let isOn = snapshot.connection.isOn
        return glyphs.unicode ? (isOn ? "[━━●]" : "[●──]") : (isOn ? "[==O]" : "[O--]")
    }

    /// Where the switch stands in the card's first row.
    private func switchColumns(_ inner: Int) -> Range<Int> { 0..<min(inner, 5) }

    private func stateRow(_ inner: Int, now: Double) -> Row {
        let connection = snapshot.connection
        var row = Row(limit: inner, glyphs)
        row.add(switchText, phaseStyle)
        row.add(" " + phaseMark + " " + Words.phase(connection.phase)(language), phaseStyle)
        if let stage = connection.stage, connection.phase == .connecting || connection.phase == .reconnecting {
            row.add(" · " + (Messages.stages[stage] ?? Text(verbatim: stage))(language), .faint)
        }
        if connection.phase == .connected, let proof = Words.proof(connection.proof) {
            row.add(" · " + proof(language), connection.proof == .silent ? Style(.bad) : .faint)
        }
        if connection.isOn, !connection.isMine { row.add(" · " + Words.otherUser(language), Style(.fair)) }
        if let since = connection.since, connection.isOn {
            addRight(Figures.clock(now - since), Style(bold: true), to: &row, inner)
        }
        return row
    }

    private func settingsRow(_ inner: Int) -> Row {
        var row = Row(limit: inner, glyphs)
        row.add(Words.mode(language) + " ", .faint)
        row.add(Words.mode(snapshot.mode)(language), Style(snapshot.mode == .global ? .fair : .plain, bold: true))
        row.add("  " + Words.killSwitch(language) + " ", .faint)
        row.add(
            (snapshot.killSwitch ? Words.on : Words.off)(language),
            Style(snapshot.killSwitch ? .good : .plain, bold: true))
        return row
    }

    private func lineRow(_ limit: Int) -> Row {
        var row = Row(limit: limit, glyphs)
        row.add(Words.line(language) + " ", .faint)
        var chosen = selectedLine
        if chosen?.id == LineItem.automaticID, let used = snapshot.automatic.flatMap({ snapshot.lines.line($0) }) {
            row.add("auto" + (glyphs.unicode ? " → " : " > "), Style(.accent))
            chosen = used
        }
        if let line = chosen {
            if let region = line.region { row.add((glyphs.flags ? region.flag : region.code) + " ") }
            // The name is the longest thing here: it gives way to the badge and the figure beside it.
            let badge = badgeText(line)
            let figure = latencyText(line).text
            let tail = (badge.isEmpty ? 0 : DisplayWidth.cells(badge) + 1) + DisplayWidth.cells(figure) + 1
            let name = TerminalText.settle(displayName(line), glyphs)
            row.add(TerminalText.cut(name, to: max(4, row.room - tail), glyphs), Style(bold: true))
            if !badge.isEmpty { row.add(" " + badge, Style(.accent)) }
            if !figure.isEmpty { row.add(" " + figure, latencyStyle(line, now: nil)) }
        } else {
            row.add(Words.noLine(language), .faint)
        }
        return row
    }

    /// Bytes a second from which a graph uses its whole height: what keeps a tunnel alive stays far below.
    private static let busy = 10 * 1024

    private func trafficRow(_ inner: Int) -> Row {
        var row = Row(limit: inner, glyphs)
        let traffic = snapshot.traffic ?? Traffic()
        let totals =
            "\(arrow(down: true)) \(Figures.bytes(traffic.downTotal)) \(arrow(down: false)) \(Figures.bytes(traffic.upTotal))"
        let totalText = Words.total(language) + " " + totals
        let totalWidth = DisplayWidth.cells(TerminalText.settle(totalText, glyphs))
        let showsTotal = inner >= 56
        let graph = max(0, min(40, (inner - (showsTotal ? totalWidth + 2 : 0)) / 2 - 15))
        for down in [true, false] {
            let rate = snapshot.traffic == nil ? "-" : Figures.rate(down ? traffic.down : traffic.up)
            row.add(arrow(down: down) + " ", Style(.accent))
            row.add(rate, Style(bold: true), field: 10, rightAligned: true)
            row.add(" ")
            let history = down ? traffic.downHistory : traffic.upHistory
            row.add(Graph.history(history, columns: graph, full: Self.busy, glyphs), Style(down ? .good : .accent))
            row.add("  ")
        }
        if showsTotal {
            var right = Row(limit: inner, glyphs)
            right.add(Words.total(language) + " ", .faint)
            right.add(totals)
            return joined(row, right, inner)
        }
        return row
    }

    /// Usage and expiry. Where both do not fit the bar gets shorter, then the date goes; the days left stay.
    private func quotaRow(_ inner: Int, now: Double) -> Row {
        var row = Row(limit: inner, glyphs)
        row.add(Words.quota(language) + " ", .faint)
        guard let quota = snapshot.quota else {
            row.add(snapshot.hasSubscription ? Words.quotaUnknown(language) : "-", .faint)
            return row
        }
        var expiry = expiryRow(quota, inner, showsDate: true, now: now)
        if let total = quota.total, total > 0 {
            let fraction = Double(quota.used) / Double(total)
            let tone: Tone = fraction >= 0.95 ? .bad : fraction >= 0.8 ? .fair : .good
            let percent = Int(min(fraction, 99.99) * 100)
            let figures = " \(Figures.bytes(quota.used)) / \(Figures.bytes(total)) (\(percent)%)"
            func room() -> Int { inner - row.width - DisplayWidth.cells(figures) - expiry.width - 1 }
            if room() < 4 { expiry = expiryRow(quota, inner, showsDate: false, now: now) }
            let bar = Graph.bar(fraction, columns: max(4, min(room(), inner / 5, 30)), glyphs)
            row.add(bar.filled, Style(tone))
            row.add(bar.rest, .faint)
            row.add(figures)
        } else {
            row.add("\(Figures.bytes(quota.used)) / \(Words.unlimited(language))")
        }
        return joined(row, expiry, inner)
    }

    private func expiryRow(_ quota: Quota, _ inner: Int, showsDate: Bool, now: Double) -> Row {
        var row = Row(limit: inner, glyphs)
        guard let expires = quota.expires else { return row }
        let days = Figures.days(from: now, to: expires, utcOffset: snapshot.utcOffset)
        let left = expires <= now ? Words.expired : days == 0 ? Words.today : Words.daysLeft(days)
        row.add(Words.expires(language) + " ", .faint)
        if showsDate { row.add(Figures.date(expires, utcOffset: snapshot.utcOffset) + " ") }
        row.add(left(language), Style(expires <= now || days < 3 ? .bad : days < 8 ? .fair : .good, bold: true))
        return row
    }

    private func problemRows(_ inner: Int, most: Int) -> [Row] {
        guard let problem = snapshot.connection.problem else { return [] }
        var text = problem.message(language)
        if let remedy = problem.remedy { text += " " + remedy(language) }
        let isGrave = snapshot.connection.phase == .blocked || snapshot.connection.phase == .unavailable
        return TerminalText.wrap(TerminalText.settle(text, glyphs), to: inner).prefix(most).map { line in
            var row = Row(limit: inner, glyphs)
            row.add(line, Style(isGrave ? .bad : .fair))
            return row
        }
    }

    func arrow(down: Bool) -> String { glyphs.unicode ? (down ? "↓" : "↑") : (down ? "v" : "^") }

    /// Puts a text at the right end of a row when there is room.
    private func addRight(_ text: String, _ style: Style, to row: inout Row, _ inner: Int) {
        let width = DisplayWidth.cells(TerminalText.settle(text, glyphs))
        guard row.width + width + 1 <= inner else { return }
        row.pad(to: inner - width)
        row.add(text, style)
    }

    /// One row from two: the left one, blanks, the right one at the end; the right one only when there is room.
    func joined(_ left: Row, _ right: Row, _ inner: Int) -> Row {
        var row = Row(limit: inner, glyphs)
        for span in left.spans { row.add(span.text, span.style) }
        if left.width + right.width < inner {
            row.pad(to: inner - right.width)
            for span in right.spans { row.add(span.text, span.style) }
        }
        return row
    }

    private func shifted(_ row: Row, _ size: Size) -> Row {
        var shifted = Row(limit: size.columns, glyphs)
        shifted.add(" ")
        for span in row.spans { shifted.add(span.text, span.style) }
        return shifted
    }

    private func boxed(_ row: Row, _ size: Size) -> Row {
        let side = glyphs.unicode ? "│" : "|"
        var boxed = Row(limit: size.columns, glyphs)
        boxed.add(side + " ", .faint)
        for span in row.spans { boxed.add(span.text, span.style) }
        boxed.pad(to: size.columns - 1)
        boxed.add(side, .faint)
        return boxed
    }

    private func border(top: Bool, _ size: Size) -> Row {
        let (left, line, right) = glyphs.unicode ? (top ? "┌" : "└", "─", top ? "┐" : "┘") : ("+", "-", "+")
        var row = Row(limit: size.columns, glyphs)
        row.add(left + line, .faint)
        if top { row.add(" Trocket ", Style(.accent, bold: true)) }
        row.add(String(repeating: line, count: size.columns - 1 - row.width) + right, .faint)
        return row
    }
}
