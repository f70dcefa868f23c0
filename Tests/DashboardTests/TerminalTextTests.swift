// Widths of characters, and text made safe for cells.

import Dashboard
import Messages
import Testing

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("a", 1), ("é", 1), ("e\u{301}", 1), ("香", 2), ("ﾊ", 1), ("ハ", 2), ("한", 2), ("\u{1112}\u{1161}\u{11ab}", 2),
        ("🇭🇰", 2), ("🚀", 2), ("★", 1), ("⭐", 2), ("│", 1), ("█", 1), ("…", 1), ("（", 2), ("\u{0}", 0), ("\u{200b}", 0),
        ("𠀀", 2), ("Ａ", 2), ("\u{7f}", 0), ("─", 1), ("①", 1), ("ก็", 1),
    ])
    func width(_ text: String, _ columns: Int) { #expect(DisplayWidth.cells(text) == columns) }

    @Test(arguments: [
        ("plain", "plain", 5), ("🇭🇰 HK", "🇭🇰 HK", 5), ("👨‍👩‍👧", "👨", 2), ("👍🏽", "👍", 2), ("❤️", "❤", 1), ("1️⃣", "1", 1),
        ("a\tb\nc", "a b c", 5), ("\u{202e}evil\u{202c}", "evil", 4), ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴", 2),
        ("🏳️‍🌈", "🏳", 1), ("\u{301}x", "x", 1),
        ("a\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}", "a\u{300}\u{301}\u{302}\u{303}", 1),
        ("🇭", "H", 1), ("\u{1b}[31mred", " [31mred", 8),
    ])
    func settled(_ text: String, _ expected: String, _ columns: Int) {
        let settled = TerminalText.settle(text, .full)
        #expect(Array(settled.unicodeScalars) == Array(expected.unicodeScalars))
        #expect(DisplayWidth.cells(settled) == columns)
    }

    @Test func withoutFlagsLettersStand() {
        let console = Glyphs(unicode: true, flags: false, blocks: false)
        #expect(TerminalText.settle("🇭🇰 香港", console) == "HK 香港")
    }

    @Test func asciiKeepsWidths() {
        #expect(TerminalText.settle("香港 01… ×2", .ascii) == "???? 01. x2")
        #expect(TerminalText.settle("🇭🇰 e\u{301}", .ascii) == "HK e")
    }

    @Test(arguments: 0...12) func fitIsExact(_ width: Int) {
        for text in ["", "abc", "香港香港香港香港", "a香b港c🇭🇰🇯🇵x", "🇭🇰🇯🇵🇸🇬🇺🇸🇬🇧🇩🇪🇫🇷"] {
            #expect(DisplayWidth.cells(TerminalText.fit(text, to: width, .full)) == width)
            #expect(DisplayWidth.cells(TerminalText.right(text, to: width, .full)) == width)
        }
    }

    @Test func cutNeverSplitsAFlag() {
        #expect(TerminalText.cut("ab🇭🇰🇯🇵", to: 4, .full) == "ab…")
        #expect(TerminalText.cut("ab🇭🇰🇯🇵", to: 5, .full) == "ab🇭🇰…")
        #expect(TerminalText.cut("a🇭🇰🇯🇵", to: 4, .full) == "a🇭🇰…")
    }

    @Test func droppingColumns() {
        #expect(TerminalText.dropping(0, of: "香港") == "香港")
        #expect(TerminalText.dropping(1, of: "香港") == " 港")
        #expect(TerminalText.dropping(2, of: "a\u{301}bc") == "c")
        #expect(TerminalText.dropping(9, of: "abc").isEmpty)
    }

    @Test func wrapBreaksAtSpacesAndBetweenIdeographs() {
        #expect(TerminalText.wrap("one two three", to: 8) == ["one two", "three"])
        #expect(TerminalText.wrap("断网保护，关闭", to: 8) == ["断网保", "护，关闭"])
    }
}
