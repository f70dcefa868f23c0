// What every key does.

import Messages
import Testing

@testable import Dashboard

@Suite struct KeyTests {
    private func connected() -> Dashboard { dashboard(connectedSnapshot()) }
    private func disconnected() -> Dashboard {
        var snapshot = connectedSnapshot()
        snapshot.connection = Connection(.disconnected)
        return dashboard(snapshot)
    }
    private func empty() -> Dashboard {
        var snapshot = Snapshot()
        snapshot.connection = Connection(.disconnected)
        return dashboard(snapshot)
    }

    struct Expectation: Sendable {
        let key: Key
        let off: [Intent]
        let on: [Intent]
        let fresh: [Intent]

        /// - Parameters:
        ///   - on: nil when the same as disconnected.
        ///   - fresh: what happens before any import; nil when the same as disconnected.
        init(_ key: Key, _ off: [Intent], on: [Intent]? = nil, fresh: [Intent]? = nil) {
            self.key = key
            self.off = off
            self.on = on ?? off
            self.fresh = fresh ?? off
        }
    }

    /// Keys of the list: what they want done when disconnected, connected, and before any import.
    static let expectations: [Expectation] = [
        Expectation(.character(" "), [.connect], on: [.disconnect], fresh: []),
        Expectation(.enter, [.select("a")], fresh: []),
        Expectation(.character("t"), [.test([])], fresh: []),
        Expectation(.character("T"), [.test(["a"])], fresh: []),
        Expectation(.character("m"), [.setMode(.global)]),
        Expectation(.character("k"), [.setKillSwitch(false)], fresh: [.setKillSwitch(true)]),
        Expectation(.character("u"), [.update], fresh: []),
        Expectation(.character("i"), []),
        Expectation(.character("r"), [.showLink], fresh: []),
        Expectation(.character("l"), [.showLogs(.worker)]),
        Expectation(.character("c"), [.showConnections]),
        Expectation(.character("?"), []),
        Expectation(.character("q"), [.quit]),
        Expectation(.control("c"), [.quit]),
        Expectation(.control("l"), [.redraw]),
        Expectation(.control("z"), [.suspend]),
        Expectation(.character("x"), []),
    ]

    @Test(arguments: expectations) func table(_ expectation: Expectation) {
        var one = disconnected()
        var two = connected()
        var three = empty()
        #expect(one.handle(expectation.key, now: now) == expectation.off)
        #expect(two.handle(expectation.key, now: now) == expectation.on)
        #expect(three.handle(expectation.key, now: now) == expectation.fresh)
    }

    @Test func spaceEndsBlockingAndConnecting() {
        for phase in [Connection.Phase.connecting, .reconnecting, .blocked] {
            var snapshot = connectedSnapshot()
            snapshot.connection = Connection(phase)
            var dashboard = dashboard(snapshot)
            #expect(dashboard.handle(.character(" "), now: now) == [.disconnect])
        }
    }

    @Test func otherUsersTunnelIsLeftAlone() {
        var snapshot = connectedSnapshot()
        snapshot.connection.isMine = false
        var dashboard = dashboard(snapshot)
        #expect(dashboard.handle(.character(" "), now: now).isEmpty)
        #expect(dashboard.handle(.character("k"), now: now).isEmpty)
        #expect(dashboard.frame(standard, now: now).text.contains("another user"))
    }

    @Test func openingABlockedHostIsAskedFirst() {
        var snapshot = connectedSnapshot()
        snapshot.connection = Connection(.blocked)
        var dashboard = dashboard(snapshot)
        #expect(dashboard.handle(.character("k"), now: now).isEmpty)
        #expect(dashboard.frame(standard, now: now).text.contains("in the open"))
        #expect(dashboard.handle(.character("n"), now: now).isEmpty)
        #expect(dashboard.handle(.character("k"), now: now).isEmpty)
        #expect(dashboard.handle(.character("y"), now: now) == [.setKillSwitch(false)])
    }

    @Test func unusableLineSaysWhy() {
        var dashboard = connected()
        for _ in 0..<5 { _ = dashboard.handle(.down, now: now) }
        #expect(dashboard.currentLine?.id == "f")
        #expect(dashboard.handle(.enter, now: now).isEmpty)
        #expect(dashboard.frame(standard, now: now).text.contains("Cannot be used: needs naive"))
    }

    @Test func filterAsYouType() {
        var dashboard = connected()
        _ = dashboard.handle(.character("/"), now: now)
        for character in "tok" { _ = dashboard.handle(.character(character), now: now) }
        #expect(dashboard.frame(standard, now: now).text.contains("Tokyo"))
        #expect(!dashboard.frame(standard, now: now).text.contains("London"))
        #expect(dashboard.currentLine?.id == "b")
        // Letters that are commands elsewhere are text here.
        _ = dashboard.handle(.character("q"), now: now)
        #expect(dashboard.currentLine == nil)
        _ = dashboard.handle(.backspace, now: now)
        _ = dashboard.handle(.enter, now: now)
        #expect(dashboard.handle(.enter, now: now) == [.select("b")])
        _ = dashboard.handle(.escape, now: now)
        #expect(dashboard.filter.isEmpty)
        #expect(dashboard.currentLine?.id == "b")
    }

    @Test func filterKnowsRegionsAndProtocols() {
        var dashboard = connected()
        _ = dashboard.handle(.character("/"), now: now)
        _ = dashboard.handle(.paste("sg HYSTERIA"), now: now)
        #expect(dashboard.currentLine?.id == "c")
    }

    @Test func testIsCancelledByItsKeyAndByEscape() {
        var dashboard = connected()
        dashboard.update { $0.activity = .testing(done: 0, total: 7) }
        #expect(dashboard.handle(.character("t"), now: now) == [.cancel])
        #expect(dashboard.handle(.escape, now: now) == [.cancel])
    }

    @Test func rowsKeepTheirPlacesWhileATestRuns() {
        var dashboard = connected()
        _ = dashboard.handle(.character("s"), now: now)
        #expect(dashboard.sort == .latency)
        dashboard.update {
            $0.activity = .testing(done: 0, total: 7)
            $0.lines.setLatency(.measured(milliseconds: 1, at: now), of: "e")
        }
        _ = dashboard.handle(.home, now: now)
        #expect(dashboard.currentLine?.id == "a")
        dashboard.update { $0.activity = nil }
        _ = dashboard.handle(.home, now: now)
        #expect(dashboard.currentLine?.id == "e")
    }

    @Test func pastedLinkIsNeverShownWhole() {
        var dashboard = empty()
        let secret = "tok3n-of-the-user"
        // A link pasted anywhere in the list opens the field.
        _ = dashboard.handle(.paste("https://sub.example.com/api?token=\(secret)\n"), now: now)
        let text = dashboard.frame(standard, now: now).text
        #expect(dashboard.panel == .paste)
        #expect(text.contains("https://sub.example.com/•"))
        #expect(!text.contains("tok"))
        #expect(
            dashboard.handle(.enter, now: now) == [.importSource("https://sub.example.com/api?token=\(secret)")])
        #expect(dashboard.panel == .lines)
    }

    @Test(arguments: [
        "ss://YWVzLTI1Ni1nY206cGFzc3dvcmQ@1.2.3.4:8388#x", "https://user:pass@host/path", "https://nohost",
        "password only", "vmess://eyJhZGQiOiJ", "pass word://x",
    ])
    func secretsAreMasked(_ source: String) {
        var dashboard = empty()
        _ = dashboard.handle(.character("i"), now: now)
        _ = dashboard.handle(.paste(source), now: now)
        let text = dashboard.frame(standard, now: now).text
        for part in ["YWV", "pass", "nohost", "eyJ", "1.2.3.4"] where source.contains(part) {
            #expect(!text.contains(part))
        }
    }

    @Test func aLinkInPiecesIsShownAsOne() {
        var dashboard = empty()
        dashboard.announce(Text("旧", "what an earlier link was told"), .error, now: now)
        _ = dashboard.handle(.character("i"), now: now)
        _ = dashboard.handle(.paste("https://sub.exam\n  ple.com/api?token=tok3n\n"), now: now)
        let text = dashboard.frame(standard, now: now).text
        #expect(text.contains("https://sub.example.com/•") && !text.contains("tok"))
        #expect(!text.contains("earlier link"))
    }

    @Test func plainPasteIsNoCommand() {
        var dashboard = connected()
        #expect(dashboard.handle(.paste("qkt "), now: now).isEmpty)
        #expect(dashboard.panel == .lines)
    }

    @Test func connectionsAreClosed() {
        var dashboard = connected()
        dashboard.update {
            $0.connections = ["x", "y"].map { LiveConnection(id: $0, host: $0, rule: "", line: "", up: 0, down: 0) }
        }
        _ = dashboard.handle(.character("c"), now: now)
        _ = dashboard.frame(standard, now: now)
        _ = dashboard.handle(.down, now: now)
        #expect(dashboard.handle(.character("x"), now: now) == [.closeConnection("y")])
        #expect(dashboard.handle(.character("X"), now: now).isEmpty)
        #expect(dashboard.handle(.character("y"), now: now) == [.closeAllConnections])
        #expect(dashboard.handle(.escape, now: now) == [.hideConnections])
    }

    @Test func logsCycleTheirSources() {
        var dashboard = connected()
        _ = dashboard.handle(.character("l"), now: now)
        #expect(dashboard.handle(.tab, now: now) == [.showLogs(.engine)])
        #expect(dashboard.handle(.tab, now: now) == [.showLogs(.controller)])
        #expect(dashboard.handle(.character("x"), now: now) == [.clearLogs])
        dashboard.update { $0.logLines = ["one", "two"] }
        #expect(dashboard.handle(.character("y"), now: now) == [.copy("one\ntwo")])
        #expect(dashboard.handle(.escape, now: now) == [.hideLogs])
    }

    /// The code takes the screen, keeps nothing once a key came, and lets no click through to what it covers.
    @Test func codeIsShownUntilAKeyComes() {
        var dashboard = connected()
        _ = dashboard.frame(standard, now: now)
        dashboard.show(ModuleGrid(side: 21, dark: Array(repeating: true, count: 441)))
        let frame = dashboard.frame(standard, now: now)
        #expect(frame.text.contains("█████████████████████") && frame.text.contains("as good as a password"))
        #expect(!frame.text.contains("Trocket") && !frame.text.contains("Tokyo"))
        for span in frame.rows.dropLast().flatMap(\.spans) where span.text.contains("█") {
            #expect(span.style.tone == .printed)
        }
        #expect(dashboard.handle(.click(row: 1, column: 3), now: now).isEmpty)
        #expect(dashboard.panel == .code)
        #expect(dashboard.handle(.character("q"), now: now).isEmpty)
        #expect(dashboard.panel == .lines && dashboard.code == nil)
    }

    @Test func codeWithoutRoomSaysHowMuchItNeeds() {
        var dashboard = connected()
        dashboard.show(ModuleGrid(side: 177, dark: Array(repeating: true, count: 177 * 177)))
        let frame = dashboard.frame(standard, now: now)
        #expect(frame.text.contains("185×94") && frame.rows.count == 24)
        #expect(!frame.text.contains("█"))
    }

    @Test func confirmKeepsTheConnection() {
        var dashboard = connected()
        #expect(dashboard.handle(.character("y"), now: now).isEmpty)
        dashboard.update { $0.connection.confirmBy = now + 42 }
        #expect(dashboard.frame(standard, now: now).text.contains("undone in 42 s"))
        #expect(dashboard.handle(.character("y"), now: now) == [.confirm])
    }

    @Test func mouse() throws {
        var dashboard = connected()
        let frame = dashboard.frame(standard, now: now)
        let tokyo = try #require(frame.rows.firstIndex { $0.text.contains("Tokyo") })
        #expect(dashboard.handle(.click(row: tokyo, column: 20), now: now).isEmpty)
        #expect(dashboard.currentLine?.id == "b")
        #expect(dashboard.handle(.click(row: tokyo, column: 20), now: now) == [.select("b")])
        let toggle = try #require(frame.rows.firstIndex { $0.text.contains("[━━●]") })
        #expect(dashboard.handle(.click(row: toggle, column: 3), now: now) == [.disconnect])
        let keys = frame.rows.count - 2
        let column = DisplayWidth.cells(String(frame.rows[keys].text.prefix { $0 != "/" }))
        _ = dashboard.handle(.click(row: keys, column: column), now: now)
        _ = dashboard.handle(.character("l"), now: now)
        #expect(dashboard.filter == "l")
        #expect(dashboard.handle(.click(row: 0, column: 0), now: now).isEmpty)
    }
}
