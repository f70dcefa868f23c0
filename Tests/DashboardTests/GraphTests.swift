// The little graphs.

import Dashboard
import Testing

@Suite struct GraphTests {
    @Test func graphs() {
        #expect(Graph.history([0, 1, 50, 100], columns: 6, .full) == "  ▁▂▅█")
        #expect(Graph.history([0, 0], columns: 2, .full) == "▁▁")
        #expect(Graph.history([5, 9, 100], columns: 2, .ascii) == ".@")
        #expect(Graph.bar(0.5, columns: 4, .ascii) == ("##", "--"))
        #expect(Graph.bar(0.001, columns: 4, .ascii) == ("#", "---"))
        #expect(Graph.bar(7, columns: 4, .full).rest.isEmpty)
    }
}
