// Aligned tables.

import ImportReport
import JSON
import Linux
import Messages
import Testing

@testable import Controller

@Suite struct TableTests {
    @Test func tableAlignsWideNames() {
        let rows = [["1", "🇭🇰 香港", "ss"], ["10", "US", "vless"]]
        #expect(Table.lines(rows, right: [0]) == [" 1  🇭🇰 香港  ss", "10  US       vless"])
    }

    @Test func connectionsStayOneLineWhateverTheirNames() {
        let host = String(repeating: "très-long.", count: 20) + "例子.example"
        let cells = Verb.cells(
            destination: host + ":443", line: "🇭🇰 香港 这个名字实在是太长了长到放不下 01",
            rule: String(repeating: "规则", count: 60))
        #expect(cells[0].hasPrefix("très-long.tr…") && cells[0].hasSuffix(".例子.example:443"))
        #expect(cells[1] == "🇭🇰 香港 这个名字实在是…")
        #expect(DisplayWidth.of(cells[0]) <= 40)
        #expect(DisplayWidth.of(cells[1]) <= 24)
        #expect(DisplayWidth.of(cells[2]) <= 48)
        #expect(Verb.cells(destination: "a:1", line: "b", rule: "final") == ["a:1", "b", "final"])
    }

    @Test func whatWasDroppedIsCountedByReason() {
        let dropped =
            (1...40).map { DroppedLine(name: "香港 \($0)", type: "ssr", reason: .unsupportedType) }
            + [DroppedLine(name: "x", type: "ss", reason: .unsupportedCipher, field: "cipher")]
        #expect(
            ImportPage.droppedLines(dropped, isTrial: false, .english) == [
                "41 lines cannot be used:", "  unsupported protocol (40): 香港 1, 香港 2, 香港 3, …",
                "  unsupported cipher (1): x", "  The whole list: trocket-controller lines --all",
            ])
        #expect(
            ImportPage.droppedLines(dropped, isTrial: true, .chinese) == [
                "不可用的线路 41 条：", "  不支持的协议（40）：香港 1、香港 2、香港 3 等", "  不支持的加密方式（1）：x",
            ])
        #expect(ImportPage.droppedLines([], isTrial: false, .english) == [])
    }

    @Test func theReportTellsEveryKindDroppedAndNoName() {
        let text = Verb.dropped([
            ["name": "香港", "type": "ssr", "reason": "unsupported_type"],
            ["name": "日本", "type": "ss", "reason": "unsupported_cipher", "field": "cipher", "detail": "secret"],
            ["name": "美国", "type": "ssr", "reason": "unsupported_type"],
        ])
        #expect(
            text == "\ndropped (type, reason, field): 3\n  ssr unsupported_type -: 2\n  ss unsupported_cipher cipher: 1"
        )
        #expect(Verb.dropped([]) == "")
    }

    @Test func detailsAndFailuresAreInTheLanguageOfTheReader() {
        #expect(LineList.text(detail: "entry 4")(.chinese) == "（第 4 项）")
        #expect(LineList.text(detail: "entry 4")(.english) == " (entry 4)")
        #expect(LineList.text(detail: "entry point")(.chinese) == "（entry point）")
        #expect(Errno.noSuchFile.text(.chinese) == "没有这个文件")
        #expect(Errno.noSuchFile.text(.english) == "No such file or directory")
    }
}
