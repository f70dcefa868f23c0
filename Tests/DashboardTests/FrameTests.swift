// Goldens of the main states in both languages, and what must hold for every frame.

import Dashboard
import Messages
import Testing

@Suite struct FrameTests {
    @Test(arguments: Language.allCases) func connected(_ language: Language) {
        var dashboard = dashboard(connectedSnapshot(), language)
        expectGolden("connected-\(language.rawValue)", dashboard.frame(standard, now: now).text)
    }

    @Test(arguments: Language.allCases) func welcome(_ language: Language) {
        var snapshot = Snapshot()
        snapshot.connection = Connection(.disconnected)
        var dashboard = dashboard(snapshot, language)
        expectGolden("welcome-\(language.rawValue)", dashboard.frame(standard, now: now).text)
    }

    @Test(arguments: Language.allCases) func blocked(_ language: Language) {
        var snapshot = connectedSnapshot()
        snapshot.connection = Connection(.blocked)
        snapshot.connection.since = now - 5
        snapshot.connection.problem = Problem(
            code: "engine-failed", message: Text("内核反复退出。", "The engine keeps ending."),
            remedy: Text("换一条线路，或按空格断开。", "Choose another line, or press space to disconnect."))
        snapshot.traffic = nil
        var dashboard = dashboard(snapshot, language)
        expectGolden("blocked-\(language.rawValue)", dashboard.frame(standard, now: now).text)
    }

    @Test(arguments: Language.allCases) func testing(_ language: Language) {
        var snapshot = connectedSnapshot()
        snapshot.connection = Connection(.connecting)
        snapshot.connection.stage = "engine"
        snapshot.connection.since = now - 2
        snapshot.activity = .testing(done: 3, total: 6)
        snapshot.lines.setLatency(.testing, of: "e")
        var dashboard = dashboard(snapshot, language)
        expectGolden("testing-\(language.rawValue)", dashboard.frame(standard, now: now).text)
    }

    @Test(arguments: Language.allCases) func help(_ language: Language) {
        var dashboard = dashboard(connectedSnapshot(), language)
        _ = dashboard.handle(.character("?"), now: now)
        expectGolden("help-\(language.rawValue)", dashboard.frame(standard, now: now).text)
    }

    @Test(arguments: Language.allCases) func connections(_ language: Language) {
        var snapshot = connectedSnapshot()
        snapshot.connections = [
            LiveConnection(id: "1", host: "www.example.com:443", rule: "final", line: "香港 01", up: 1200, down: 53_000),
            LiveConnection(id: "2", host: "例子.测试:443", rule: "geosite-cn", line: "direct", up: 10, down: 0),
        ]
        var dashboard = dashboard(snapshot, language)
        _ = dashboard.handle(.character("c"), now: now)
        expectGolden("connections-\(language.rawValue)", dashboard.frame(standard, now: now).text)
    }

    @Test func automaticChoiceNamesItsLine() {
        var snapshot = connectedSnapshot()
        snapshot.lines = LineTable(sampleLines().items, automatic: true)
        snapshot.selected = LineItem.automaticID
        snapshot.automatic = "b"
        snapshot.connection.proof = .answered(milliseconds: 87)
        var dashboard = dashboard(snapshot)
        expectGolden("automatic-en", dashboard.frame(standard, now: now).text)
    }

    @Test func asciiHasNothingElse() {
        var dashboard = dashboard(connectedSnapshot(), .chinese, .ascii)
        let text = dashboard.frame(standard, now: now).text
        #expect(text.utf8.allSatisfy { $0 < 0x80 })
        expectGolden("connected-ascii", text)
    }

    @Test func narrow() {
        var dashboard = dashboard(connectedSnapshot(), .english)
        expectGolden("connected-40x12", dashboard.frame(Size(columns: 40, rows: 12), now: now).text)
        #expect(dashboard.frame(Size(columns: 20, rows: 5), now: now).text.contains("Too small"))
    }

    /// No row is wider than the screen, and none is missing, at any size, in any panel.
    @Test(arguments: Language.allCases, [Glyphs.full, .ascii, Glyphs(unicode: true, flags: false, blocks: false)])
    func fits(_ language: Language, _ glyphs: Glyphs) {
        var snapshot = connectedSnapshot()
        snapshot.logLines = ["INFO 启动", "ERROR " + String(repeating: "长", count: 300)]
        snapshot.connections = [LiveConnection(id: "1", host: "h", rule: "r", line: "l", up: 0, down: 0)]
        snapshot.activity = .testing(done: 1, total: 7)
        let code = ModuleGrid(side: 25, dark: Array(repeating: true, count: 625))
        for key in [
            Key.escape, .character("r"), .character("?"), .character("l"), .character("c"), .character("i"),
            .character("/"),
        ] {
            var dashboard = dashboard(snapshot, language, glyphs)
            if dashboard.handle(key, now: now) == [.showLink] { dashboard.show(code) }
            for columns in stride(from: 1, through: 130, by: 7) {
                for rows in [1, 3, 8, 10, 15, 20, 24, 50] {
                    let frame = dashboard.frame(Size(columns: columns, rows: rows), now: now)
                    #expect(frame.rows.count <= rows)
                    for row in frame.rows {
                        #expect(row.width <= columns)
                        #expect(DisplayWidth.cells(row.text) == row.width)
                    }
                    if columns >= 32, rows >= 8 { #expect(frame.rows.count == rows) }
                }
            }
        }
    }

    /// Reversed colours make a row of patches: under the cursor everything is plain, whatever it says elsewhere.
    @Test(arguments: [Key.escape, .character("c")]) func rowUnderTheCursorIsOneBar(_ panel: Key) {
        var snapshot = connectedSnapshot()
        snapshot.connections = [LiveConnection(id: "1", host: "h", rule: "final", line: "香港 01", up: 1, down: 2)]
        var dashboard = dashboard(snapshot)
        _ = dashboard.handle(panel, now: now)
        for _ in snapshot.lines.items {
            let bars = dashboard.frame(standard, now: now).rows.filter { $0.spans.contains { $0.style.reversed } }
            #expect(bars.count == 1)
            for row in bars {
                #expect(row.width == standard.columns)
                for span in row.spans { #expect(span.style.reversed && span.style.tone == .plain) }
            }
            _ = dashboard.handle(.down, now: now)
        }
    }

    /// However long the figures, the days left are seen, and the date where 80 columns are.
    @Test(arguments: Language.allCases, [60, 64, 79, 80, 200]) func expiryIsAlwaysSeen(
        _ language: Language, _ columns: Int
    ) {
        var snapshot = connectedSnapshot()
        snapshot.quota = Quota(used: 109_951_162_777_600, total: 1_099_511_627_776_000, expires: now + 365 * 86_400)
        var dashboard = dashboard(snapshot, language)
        let text = dashboard.frame(Size(columns: columns, rows: 24), now: now).text
        #expect(text.contains("100 TB / 1000 TB (10%)") || text.contains("100 TB / 0.98 PB (10%)"))
        #expect(text.contains(language == .english ? "365 days left" : "剩 365 天"))
        #expect(text.contains("2027-12-01") || columns < 79)
    }

    /// A provider may tell any two numbers.
    @Test func absurdQuotaIsShownAsThat() {
        var snapshot = connectedSnapshot()
        snapshot.quota = Quota(used: .max, total: 1, expires: nil)
        var dashboard = dashboard(snapshot)
        #expect(dashboard.frame(Size(columns: 80, rows: 24), now: now).text.contains("(9999%)"))
    }

    @Test func aProofIsOfOneLineAndMode() {
        let changes: [(inout Snapshot) -> Void] = [{ $0.selected = "b" }, { $0.mode = .global }]
        for change in changes {
            var dashboard = dashboard(connectedSnapshot())
            dashboard.update { $0.selected = "a" }
            #expect(dashboard.snapshot.connection.proof == .answered(milliseconds: 87))
            dashboard.update(change)
            #expect(dashboard.snapshot.connection.proof == .none)
        }
        // The automatic choice uses another line; that it uses its first one is no change.
        var automatic = connectedSnapshot()
        automatic.selected = LineItem.automaticID
        automatic.connection.proof = .answered(milliseconds: 87)
        automatic.automatic = "a"
        #expect(automatic.connection.proof == .answered(milliseconds: 87))
        automatic.automatic = "b"
        #expect(automatic.connection.proof == .none)
    }

    @Test func sameStateSameFrame() {
        var dashboard = dashboard(connectedSnapshot())
        #expect(dashboard.frame(standard, now: now) == dashboard.frame(standard, now: now + 0.2))
    }

    @Test func nothingChangesByTimeAloneWhileDisconnected() {
        var snapshot = Snapshot()
        snapshot.connection = Connection(.disconnected)
        snapshot.connection.since = now - 100
        var dashboard = dashboard(snapshot)
        _ = dashboard.frame(standard, now: now)
        #expect(dashboard.nextChange(now: now) == nil)
    }

    @Test func clockTicksEverySecondWhileConnected() throws {
        var dashboard = dashboard(connectedSnapshot())
        _ = dashboard.frame(standard, now: now)
        let next = try #require(dashboard.nextChange(now: now + 0.25))
        #expect(abs(next - (now + 1)) < 0.01)
    }
}
