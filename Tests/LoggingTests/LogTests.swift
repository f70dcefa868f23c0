// Log lines keep one line, carry their facts, and honour the level.

import Glibc
import Linux
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

    @Test func aLogThatCouldNotBeOpenedAnewGoesOnWhenItCan() async {
        // The limit is the process's.
        await #expect(processExitsWith: .success) {
            var template = Array("/tmp/trocket-log-XXXXXX".utf8CString)
            let path = try #require(
                template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
            let sink = try FileSink(directory: Directory(path), name: "a.log", limit: 8)
            sink.write("1234567")
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var usual = rlimit()
            getrlimit(resource, &usual)
            var none = rlimit(rlim_cur: 0, rlim_max: usual.rlim_max)
            setrlimit(resource, &none)
            sink.write("lost")
            setrlimit(resource, &usual)
            sink.write("kept")
            let folder = try Directory(path)
            #expect(try folder.read("a.log", owner: nil, limit: 100) == Array("kept\n".utf8))
            for name in try folder.names() { unlink("\(path)/\(name)") }
            rmdir(path)
        }
    }
}
