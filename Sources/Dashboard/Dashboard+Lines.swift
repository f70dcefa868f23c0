// The list of lines, and what stands in its place while there is none.

import Messages

extension Dashboard {
    /// Draws the list's heading and the rows that are seen; no other row is looked at.
    mutating func drawLines(_ frame: inout Frame, rows: Int, now: Double) {
        guard snapshot.hasSubscription else { return drawWelcome(&frame, rows: rows) }
        cursor.setHeight(rows - 1)
        frame.rows.append(listHeading(frame.size))
        if isFiltering {
            let before = DisplayWidth.cells(TerminalText.settle(filterText, glyphs))
            frame.cursor = (frame.rows.count - 1, min(frame.size.columns - 1, before))
        }
        if shown.isEmpty {
            if !filter.isEmpty { frame.rows.append(row(" " + Words.nothingMatches(language), .faint, frame.size)) }
            return
        }
        let columns = ListColumns(frame.size.columns, digits: String(snapshot.lines.count).utf8.count)
        for position in cursor.visible {
            frame.hits.append(
                Hit(row: frame.rows.count, columns: 0..<frame.size.columns, target: .item(position)))
            frame.rows.append(lineRow(shown[position], at: position, columns, frame.size, now: now))
        }
    }

    private var filterText: String { " / " + filter }

    private func listHeading(_ size: Size) -> Row {
        var left = Row(limit: size.columns, glyphs)
        if isFiltering {
            left.add(filterText, Style(.accent, bold: true))
        } else {
            left.add(" " + Words.lines(language), Style(bold: true))
            let count = snapshot.lines.count
            left.add(filter.isEmpty ? " \(count)" : " \(shown.count)/\(count)")
            left.add("  " + Words.sorted(language) + " ", .faint)
            left.add(Words.sort(sort)(language))
            if !filter.isEmpty {
                left.add("  " + Words.filter(language) + " ", .faint)
                left.add(filter, Style(.accent, bold: true))
            }
        }
        var right = Row(limit: size.columns, glyphs)
        switch snapshot.activity {
        case .testing(let done, let total):
            let bar = Graph.bar(total > 0 ? Double(done) / Double(total) : 0, columns: 12, glyphs)
            right.add(Words.measuring(language) + " ", Style(.accent))
            right.add(bar.filled, Style(.accent))
            right.add(bar.rest, .faint)
            right.add(" \(done)/\(total) ")
        case .importing: right.add(Words.importing(language) + " ", Style(.accent))
        case .updating: right.add(Words.updating(language) + " ", Style(.accent))
        case nil:
            if shown.count > cursor.height {
                right.add("\(cursor.top + 1)-\(cursor.visible.upperBound)/\(shown.count) ", .faint)
            }
        }
        return joined(left, right, size.columns)
    }

    /// The widths of the list's columns; what is left is the name's.
    private struct ListColumns {
        let number: Int
        let name: Int
        let kind: Int
        let badge: Int
        let latency = 9
        let age = 5

        init(_ columns: Int, digits: Int) {
            number = columns >= 44 ? max(2, digits) : 0
            badge = columns >= 50 ? 6 : 0
            kind = columns >= 66 ? 12 : 0
            // Mark, number, flag, name, then the rest.
            name = max(6, columns - 2 - (number > 0 ? number + 1 : 0) - 3 - kind - badge - latency - age - 1)
        }
    }

    private func lineRow(_ place: Int, at position: Int, _ columns: ListColumns, _ size: Size, now: Double) -> Row {
        let line = snapshot.lines.items[place]
        let isCursor = position == cursor.position
        let isSelected = line.id == snapshot.selected
        func style(_ tone: Tone, bold: Bool = false) -> Style {
            let style = Style(line.unusable != nil ? .faint : tone, bold: bold && line.unusable == nil)
            return isCursor ? style.underCursor : style
        }
        var row = Row(limit: size.columns, glyphs)
        row.add(isCursor ? (glyphs.unicode ? "▸" : ">") : " ", style(.accent, bold: true))
        row.add(isSelected ? (glyphs.unicode ? "●" : "*") : " ", style(.good, bold: true))
        if columns.number > 0 {
            let number = snapshot.lines.number(at: place).map(String.init) ?? ""
            row.add(number, style(.faint), field: columns.number, rightAligned: true)
            row.add(" ", style(.plain))
        }
        let region = line.region.map { glyphs.flags ? $0.flag : $0.code } ?? ""
        row.add(region, style(.plain), field: 2)
        row.add(" ", style(.plain))
        row.add(displayName(line), style(.plain, bold: isSelected), field: columns.name)
        if columns.kind > 0 {
            row.add(" ", style(.plain))
            row.add(line.id == LineItem.automaticID ? "" : line.kind, style(.faint), field: columns.kind - 1)
        }
        if columns.badge > 0 { row.add(badgeText(line), style(.accent), field: columns.badge, rightAligned: true) }
        if let why = line.unusable {
            row.add(" ", style(.faint))
            row.add(why(language), style(.faint), field: columns.latency + columns.age - 1, rightAligned: true)
        } else {
            let figure = latencyText(line)
            row.add(" ", style(.plain))
            row.add(
                figure.text, style(latencyStyle(line, now: now).tone), field: columns.latency - 1, rightAligned: true)
            row.add(figure.at.map { ageText(now - $0) } ?? "", style(.faint), field: columns.age, rightAligned: true)
        }
        row.pad(to: size.columns, style(.plain))
        return row
    }

    private func ageText(_ seconds: Double) -> String {
        seconds < 60 ? Words.justNow(language) : Figures.age(seconds)
    }

    func displayName(_ line: LineItem) -> String {
        if line.id == LineItem.automaticID { return Words.automatic(language) }
        return line.region == nil ? line.name : Region.withoutFlag(line.name)
    }

    /// The multiplier, when it is not one.
    func badgeText(_ line: LineItem) -> String {
        guard let multiplier = line.multiplier, multiplier != 1 else { return "" }
        return (glyphs.unicode ? "×" : "x") + Figures.multiplier(multiplier)
    }

    /// What stands in the latency's column, and since when it holds.
    func latencyText(_ line: LineItem) -> (text: String, at: Double?) {
        switch line.latency {
        case .unknown: (line.id == LineItem.automaticID ? "" : "-", nil)
        case .testing: (glyphs.unicode ? "…" : "...", nil)
        case .measured(let milliseconds, let at): ("\(milliseconds) ms", at)
        case .failed(let code, let at): (Words.failure(code)(language), at)
        }
    }

    /// Green, yellow and red by how much a person feels it; faint once the figure is older than half an hour.
    func latencyStyle(_ line: LineItem, now: Double?) -> Style {
        switch line.latency {
        case .unknown: return .faint
        case .testing: return Style(.accent)
        case .failed: return Style(.bad)
        case .measured(let milliseconds, let at):
            if let now, now - at > 1800 { return .faint }
            return Style(milliseconds < 250 ? .good : milliseconds < 700 ? .fair : .bad)
        }
    }

    private func drawStateProblem(_ problem: Problem, _ frame: inout Frame) {
        frame.rows.append(Row(limit: frame.size.columns, glyphs))
        for (text, style) in [(problem.message, Style(.bad, bold: true)), (problem.remedy ?? Text("", ""), .plain)] {
            for line in TerminalText.wrap(TerminalText.settle(text(language), glyphs), to: frame.size.columns - 4) {
                frame.rows.append(row("  " + line, style, frame.size))
            }
        }
    }

    private func drawWelcome(_ frame: inout Frame, rows: Int) {
        let texts =
            snapshot.isLoading
            ? [Words.loading] : snapshot.activity == .importing ? [Words.importing] : Words.welcome
        if let problem = snapshot.stateProblem { return drawStateProblem(problem, &frame) }
        var lines = texts.flatMap {
            TerminalText.wrap(TerminalText.settle($0(language), glyphs), to: frame.size.columns - 4)
        }
        if lines.count > rows { lines.removeAll { $0.isEmpty } }
        let above = max(0, min(2, (rows - lines.count) / 2))
        for _ in 0..<above { frame.rows.append(Row(limit: frame.size.columns, glyphs)) }
        for (number, text) in lines.prefix(rows - above).enumerated() {
            frame.rows.append(row("  " + text, number == 0 ? Style(.accent, bold: true) : .plain, frame.size))
        }
    }
}
