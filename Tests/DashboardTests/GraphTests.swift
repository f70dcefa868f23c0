// The little graphs.

import Dashboard
import Testing

@Suite struct GraphTests {
    @Test func graphs() {
        #expect(Graph.history([0, 1, 50, 100], columns: 6, full: 1, .full) == "  ▁▂▅█")
        #expect(Graph.history([0, 0], columns: 2, full: 1, .full) == "▁▁")
        #expect(Graph.history([5, 9, 100], columns: 2, full: 1, .ascii) == ".@")
        #expect(Graph.bar(0.5, columns: 4, .ascii) == ("##", "--"))
        #expect(Graph.bar(0.001, columns: 4, .ascii) == ("#", "---"))
        #expect(Graph.bar(7, columns: 4, .full).rest.isEmpty)
    }

    @Test func aTrickleLooksLikeATrickle() {
        #expect(Graph.history([900, 1024, 0], columns: 3, full: 10_240, .full) == "▂▂▁")
        #expect(Graph.history([1024, 102_400], columns: 2, full: 10_240, .full) == "▂█")
    }

    /// The card draws with that floor: what keeps a tunnel alive is no mountain range.
    @Test func anIdleTunnelLooksIdle() throws {
        var snapshot = connectedSnapshot()
        var traffic = Traffic()
        for _ in 0..<40 { traffic.add(up: 700, down: 1100, upTotal: 1, downTotal: 1) }
        snapshot.traffic = traffic
        var dashboard = dashboard(snapshot)
        let row = try #require(dashboard.frame(standard, now: now).rows.first { $0.text.contains("KB/s") }).text
        #expect(row.contains("▂▂▂"))
        #expect(!row.contains { "▃▄▅▆▇█".contains($0) })
    }
}
