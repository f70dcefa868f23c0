// The lines as `lines` shows them: with number, choice, multiplier and last latency, sorted, and the unusable ones.

import JSON
import Linux
import Messages
import Store

/// One row of the list.
struct LineEntry {
    /// The place in the subscription, from 1; nil for a line that cannot be used.
    var number: Int?
    var id: String?
    var name: String
    var type: String?
    var server: String?
    var port: Int?
    var multiplier: Double?
    var isSelected: Bool
    /// Why it cannot be used; nil when it can.
    var reason: String?
    var detail: String?
    var latency: Latency?

    /// `{"number", "id", "name", "type", "server", "port", "multiplier", "selected", "usable", "reason", "latency"}`.
    var json: JSON {
        [
            "number": .optional(number), "id": .optional(id), "name": .string(name), "type": .optional(type),
            "server": .optional(server), "port": .optional(port),
            "multiplier": multiplier.map { JSON.double($0) } ?? .null, "selected": .bool(isSelected),
            "usable": .bool(reason == nil), "reason": .optional(reason), "detail": .optional(detail),
            "latency": latency?.json ?? .null,
        ]
    }
}

/// The list.
struct LineList {
    let entries: [LineEntry]
    /// What the import dropped.
    let dropped: [LineEntry]
    private let record: SubscriptionRecord
    private let usesAuto: Bool

    init(_ record: SubscriptionRecord, state: State) {
        self.record = record
        let chosen = state.preferences.selection?.identity
        usesAuto = chosen == nil
        entries = record.lines.enumerated().map { position, line in
            LineEntry(
                number: position + 1, id: line.identity, name: line.name, type: line.type, server: line.server,
                port: line.port, multiplier: line.multiplier, isSelected: line.identity == chosen,
                latency: state.latencies[line.identity])
        }
        dropped = record.report["dropped"].listed.map { line in
            LineEntry(
                name: line["name"].string ?? "", type: line["type"].string, isSelected: false,
                reason: line["reason"].string ?? "", detail: line["detail"].string ?? line["field"].string)
        }
    }

    /// The usable lines by `order`, `name`, `latency` (failed and unmeasured last) or `multiplier` (unknown last, never
    /// guessed). Equal ones keep the provider's order.
    func sorted(by key: String) -> [LineEntry] {
        func ordered(_ before: (LineEntry, LineEntry) -> Bool?) -> [LineEntry] {
            entries.sorted { before($0, $1) ?? (($0.number ?? 0) < ($1.number ?? 0)) }
        }
        switch key {
        case "name": return ordered { $0.name == $1.name ? nil : $0.name < $1.name }
        case "latency":
            return ordered { left, right in
                let values = (left.latency?.milliseconds ?? Int.max, right.latency?.milliseconds ?? Int.max)
                return values.0 == values.1 ? nil : values.0 < values.1
            }
        case "multiplier":
            return ordered { left, right in
                let values = (left.multiplier ?? .infinity, right.multiplier ?? .infinity)
                return values.0 == values.1 ? nil : values.0 < values.1
            }
        default: return entries
        }
    }

    /// Writes the list for a person.
    func show(_ entries: [LineEntry], dropped: [LineEntry], on output: Output) {
        for text in SubscriptionSummary.texts(record) { output.result(text) }
        if usesAuto { output.result(Text("选择：auto（自动选最快的线路）", "Selected: auto (the fastest line)")) }
        let rows = entries.map { entry in
            [
                entry.isSelected ? "*" : " ", entry.number.map(String.init) ?? "",
                DisplayWidth.cut(entry.name, to: Table.widestName), entry.type ?? "",
                entry.multiplier.map { "×" + Self.text($0) } ?? "", Self.text(entry.latency)(output.language),
            ]
        }
        for row in Table.lines(rows, right: [1, 5]) { output.result(row) }
        guard !dropped.isEmpty else { return }
        output.result(Text("不可用的线路：", "Lines that cannot be used:"))
        let unusable = dropped.map { entry in
            [
                " ", DisplayWidth.cut(entry.name, to: Table.widestName), entry.type ?? "",
                (ImportPage.reason(entry.reason ?? "") + (entry.detail.map(Self.text(detail:)) ?? Text("", "")))(
                    output.language),
            ]
        }
        for row in Table.lines(unusable) { output.result(row) }
    }

    /// The import's detail in brackets; `entry 4` is the place in the subscription, other ones are names of fields and the
    /// engine's words.
    static func text(detail: String) -> Text {
        let words = detail.split(separator: " ")
        guard words.count == 2, words[0] == "entry", let number = Int(words[1]) else {
            return Text("（\(detail)）", " (\(detail))")
        }
        return Text("（第 \(number) 项）", " (entry \(number))")
    }

    private static func text(_ multiplier: Double) -> String {
        Int(exactly: multiplier).map(String.init) ?? String(multiplier)
    }

    private static func text(_ latency: Latency?) -> Text {
        guard let latency else { return Text(verbatim: "-") }
        if let milliseconds = latency.milliseconds { return Text(verbatim: "\(milliseconds) ms") }
        let error = latency.error ?? ""
        return Messages.delayErrors[error] ?? Text(verbatim: error)
    }
}
