// Made-up subscriptions and goldens: the text of whole frames, kept in Fixtures.

import Dashboard
import Glibc
import Messages
import Testing

/// The moment all frames are drawn at: 2026-12-01 00:00 UTC.
let now = 1_796_083_200.0

/// Lines with everything that breaks columns: flags, CJK, joined emoji, combining marks, right-to-left overrides.
func sampleLines() -> LineTable {
    LineTable([
        LineItem(
            id: "a", name: "🇭🇰 香港 01 IEPL 专线", kind: "shadowsocks", multiplier: 1.5,
            latency: .measured(milliseconds: 45, at: now - 150)),
        LineItem(
            id: "b", name: "🇯🇵 Tokyo 02 | BGP", kind: "vmess", latency: .measured(milliseconds: 312, at: now - 30)),
        LineItem(id: "c", name: "新加坡 SG-03", kind: "hysteria2", latency: .failed(code: "timeout", at: now - 90)),
        LineItem(
            id: "d", name: "👨‍👩‍👧 US family ❤️ 1️⃣", kind: "vless", multiplier: 0.5,
            latency: .measured(milliseconds: 1204, at: now - 7200)),
        LineItem(id: "e", name: "Zu\u{308}rich cafe\u{301} \u{202e}evil", kind: "trojan"),
        LineItem(id: "f", name: "🇬🇧 London naive", kind: "naive", unusable: Text("需要 naive", "needs naive")),
        LineItem(id: "g", name: "台湾 家宽 这个名字实在是太长了长到任何终端的一行都放不下真的放不下啊啊啊啊啊", kind: "tuic", multiplier: 10),
    ])
}

/// Everything filled in.
func connectedSnapshot() -> Snapshot {
    var snapshot = Snapshot()
    snapshot.hasSubscription = true
    snapshot.lines = sampleLines()
    snapshot.selected = "a"
    snapshot.killSwitch = true
    snapshot.connection = Connection(.connected)
    snapshot.connection.since = now - 3723
    snapshot.connection.proof = .answered(milliseconds: 87)
    var traffic = Traffic()
    for second in 0..<30 {
        traffic.add(
            up: second * 300, down: (second % 10) * 150_000, upTotal: 88_000_000, downTotal: 1_300_000_000)
    }
    snapshot.traffic = traffic
    snapshot.quota = Quota(used: 45_400_000_000, total: 107_374_182_400, expires: now + 32 * 86_400)
    return snapshot
}

func dashboard(_ snapshot: Snapshot, _ language: Language = .english, _ glyphs: Glyphs = .full) -> Dashboard {
    var dashboard = Dashboard(language: language, glyphs: glyphs)
    dashboard.update { told in
        told = snapshot
        told.lines = LineTable()
    }
    dashboard.setLines(snapshot.lines)
    return dashboard
}

let standard = Size(columns: 80, rows: 24)

/// Compares a text with `Fixtures/NAME.txt`. With `TROCKET_WRITE_GOLDENS` set the file is written instead.
func expectGolden(_ name: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let folder = String(#filePath).split(separator: "/").dropLast().joined(separator: "/")
    let path = "/\(folder)/Fixtures/\(name).txt"
    if getenv("TROCKET_WRITE_GOLDENS") != nil {
        guard let file = fopen(path, "w") else { return }
        fputs(text + "\n", file)
        fclose(file)
        return
    }
    var bytes: [UInt8] = []
    if let file = fopen(path, "r") {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&buffer, 1, buffer.count, file)
        bytes = Array(buffer.prefix(count))
        fclose(file)
    }
    #expect(String(decoding: bytes, as: UTF8.self) == text + "\n", "\(name)", sourceLocation: sourceLocation)
}
