// Log lines keep one line, carry their facts, and honour the level.

import Logging
import Testing

@Suite struct LogTests {
    @Test func linesCarryFactsAndStayOneLine() {
        let sink = MemorySink()
        let log = Log("worker", sink: sink)
        log(.debug, "unseen")
        log(.warning, "two\nlines", ["link": "trocket0", "why": "a b"])
        #expect(sink.lines.count == 1)
        #expect(sink.lines[0].hasSuffix("Z warning worker: two lines link=trocket0 why=\"a b\""))
    }

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00.000Z"), (951_782_400.5, "2000-02-29T00:00:00.500Z"),
        (1_798_761_599.0, "2026-12-31T23:59:59.000Z"), (-1.0, "1969-12-31T23:59:59.000Z"),
    ])
    func timestamps(_ seconds: Double, _ text: String) { #expect(timestamp(seconds) == text) }
}
