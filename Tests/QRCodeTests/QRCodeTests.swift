// Codes as libqrencode makes them, and the characters they become. A camera's view is taken in namespaces/tests.

import Messages
import QRCode
import Testing

@Suite struct QRCodeTests {
    private func made(_ count: Int) -> ModuleGrid? { QRCode.encode([UInt8](repeating: 0x61, count: count)) }

    /// Version 1 holds 17 bytes at the lowest level, version 40 holds 2953 (ISO/IEC 18004, table 7).
    @Test func itIsAsSmallAsItCanBe() {
        #expect(made(17)?.side == 21)
        #expect(made(18)?.side == 25)
        #expect(made(2953)?.side == 177)
        #expect(made(2954) == nil)
        #expect(made(0) == nil)
    }

    /// The three corners a reader looks for, and none in the fourth.
    @Test func cornersAreThere() throws {
        let code = try #require(made(17))
        let row = { (row: Int, columns: Range<Int>) in
            columns.map { code.isDark(row: row, column: $0) ? "#" : "." }.joined()
        }
        for (top, left) in [(0, 0), (0, 14), (14, 0)] {
            #expect(row(top, left..<left + 7) == "#######")
            #expect(row(top + 1, left..<left + 7) == "#.....#")
            #expect(row(top + 3, left..<left + 7) == "#.###.#")
        }
        #expect(row(14, 14..<21) != "#######")
        #expect(!code.isDark(row: -1, column: 0) && !code.isDark(row: 0, column: 21))
    }

    /// Whichever way it is drawn, reading the cells back gives the modules with a light margin around them.
    @Test(arguments: [17, 100]) func drawingsSayTheSame(_ count: Int) throws {
        let code = try #require(made(count))
        let halves = try #require(code.drawn(.halfBlocks, columns: .max))
        let blanks = try #require(code.drawn(.blanks, columns: .max))
        #expect(halves.count == code.cells(.halfBlocks).rows && blanks.count == code.cells(.blanks).rows)
        for row in 0..<code.side + 8 {
            let upper = Array(halves[row / 2].map(\.text).joined())
            let wide = blanks[row].flatMap { piece in piece.text.map { _ in piece.isInverted } }
            #expect(upper.count == code.side + 8 && wide.count == 2 * upper.count)
            for column in 0..<code.side + 8 {
                let dark = code.isDark(row: row - 4, column: column - 4)
                #expect((row.isMultiple(of: 2) ? "█▀" : "█▄").contains(upper[column]) == dark)
                #expect(wide[2 * column] == dark && wide[2 * column + 1] == dark)
            }
        }
    }

    /// The margin shrinks to two before the code is refused.
    @Test func marginGivesWay() throws {
        let code = try #require(made(17))
        #expect(code.drawn(.halfBlocks, columns: 29, rows: 15)?.first?.first?.text.count == 29)
        #expect(code.drawn(.halfBlocks, columns: 25, rows: 13)?.first?.first?.text.count == 25)
        #expect(code.drawn(.halfBlocks, columns: 24, rows: 13) == nil)
        #expect(code.drawn(.halfBlocks, columns: 25, rows: 12) == nil)
    }

    @Test func coloursAreNamedAndEndWithTheRow() throws {
        let code = try #require(made(17))
        for rows in [code.drawn(.halfBlocks, columns: 80), code.drawn(.blanks, columns: 80)] {
            for row in ModuleGrid.escaped(try #require(rows)) {
                #expect(row.hasPrefix("\u{1b}[38;5;16;48;5;231m"))
                #expect(row.hasSuffix("\u{1b}[0m"))
            }
        }
    }
}
