// The choice of the language, and widths in terminal columns.

import Messages
import Testing

@Suite struct TextTests {
    @Test(
        arguments: [
            ([:], Language.english),
            (["LANG": "zh_CN.UTF-8"], .chinese),
            (["LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"], .english),
            (["LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW.UTF-8"], .chinese),
            (["LC_MESSAGES": "zh_CN", "LC_ALL": "C"], .english),
            (["LC_ALL": "C", "TROCKET_LANG": "zh"], .chinese),
            (["LC_ALL": "", "LANG": "zh"], .chinese),
            (["LANG": "de_DE.UTF-8"], .english),
        ] as [([String: String], Language)])
    func language(environment: [String: String], expected: Language) {
        #expect(Language(environment: { environment[$0] }) == expected)
    }

    @Test(arguments: [
        ("abc", 3), ("香港", 4), ("🇭🇰 HK", 5), ("e\u{301}", 1), ("👨‍👩‍👧", 2), ("❤️", 2), ("｜", 2), ("|", 1), ("", 0),
        ("\u{200b}", 0), ("한국", 4), ("日本語ｱ", 7), ("a\tb", 2),
    ])
    func width(text: String, columns: Int) { #expect(DisplayWidth.of(text) == columns) }

    @Test func cuttingAndFilling() {
        #expect(DisplayWidth.cut("香港节点", to: 5) == "香港…")
        #expect(DisplayWidth.cut("香港节点", to: 8) == "香港节点")
        #expect(DisplayWidth.cut("abc", to: 0) == "")
        #expect(DisplayWidth.padded("香港", to: 6) == "香港  ")
        #expect(DisplayWidth.aligned("7", to: 3) == "  7")
    }

    @Test func wrapping() {
        #expect(DisplayWidth.wrapped("one two three", to: 7) == ["one two", "three"])
        #expect(DisplayWidth.wrapped("请检查网络，然后重试。", to: 10) == ["请检查网", "络，然后重", "试。"])
    }
}
