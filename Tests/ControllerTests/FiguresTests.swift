// Sizes, lengths of time and tables.

import Messages
import Testing

@testable import Controller

@Suite struct FiguresTests {
    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1536, "1.5 KB"), (11_811_160_064, "11.0 GB"), (107_374_182_400, "100 GB"),
        (-2048, "-2.0 KB"),
    ])
    func bytes(count: Int, expected: String) { #expect(Figures.bytes(count) == expected) }

    @Test(arguments: [
        (-5, "0 s"), (59, "59 s"), (61, "1 min"), (3600, "1 h"), (18_600, "5 h 10 min"), (183_600, "2 d 3 h"),
    ])
    func durations(seconds: Int, expected: String) { #expect(Figures.duration(seconds: seconds)(.english) == expected) }

    @Test func tableAlignsWideNames() {
        let rows = [["1", "🇭🇰 香港", "ss"], ["10", "US", "vless"]]
        #expect(Figures.table(rows, right: [0]) == [" 1  🇭🇰 香港  ss", "10  US       vless"])
    }
}
