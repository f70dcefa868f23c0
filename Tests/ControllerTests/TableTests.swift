// Aligned tables.

import Testing

@testable import Controller

@Suite struct TableTests {
    @Test func tableAlignsWideNames() {
        let rows = [["1", "🇭🇰 香港", "ss"], ["10", "US", "vless"]]
        #expect(Table.lines(rows, right: [0]) == [" 1  🇭🇰 香港  ss", "10  US       vless"])
    }
}
