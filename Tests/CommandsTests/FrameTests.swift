// Frames: cut as they should be, limited, and nothing hostile gets through.

import Commands
import JSON
import Testing

@Suite struct FrameTests {
    @Test func linesAreCutWhateverTheChunks() throws {
        let text = Array("{\"a\":1}\n\r\n{\"b\":2}\r\n{\"c\"".utf8)
        for size in 1...text.count {
            var reader = FrameReader()
            var lines: [String] = []
            for start in stride(from: 0, to: text.count, by: size) {
                let chunk = Array(text[start..<min(start + size, text.count)])
                lines += try reader.append(chunk).map { String(decoding: $0, as: UTF8.self) }
            }
            #expect(lines == ["{\"a\":1}", "{\"b\":2}"], "chunks of \(size)")
            #expect(reader.pending == 4)
        }
    }

    @Test func theLimitIsExact() throws {
        var reader = FrameReader(limit: 4)
        #expect(try reader.append(Array("abcd\n".utf8)).count == 1)
        #expect(throws: FrameError.tooLong) { try reader.append(Array("abcde".utf8)) }
        var second = FrameReader(limit: 4)
        #expect(throws: FrameError.tooLong) { try second.append(Array("abcde\n".utf8)) }
    }

    @Test func onlyObjectsInUTF8Pass() throws {
        #expect(throws: FrameError.self) { try Frame.decode(Array("[1]".utf8)) }
        #expect(throws: FrameError.self) { try Frame.decode([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]) }
        #expect(throws: FrameError.self) { try Frame.decode(Array("{} {}".utf8)) }
        #expect(throws: FrameError.self) {
            try Frame.decode(Array(("{\"a\":" + String(repeating: "[", count: 60_000)).utf8))
        }
        #expect(try Frame.decode(Array("{\"id\":1}".utf8))["id"].int == 1)
    }

    @Test func anEncodedFrameHoldsOneLineFeed() {
        let bytes = Frame.encode(["text": "a\nb\rc"])
        #expect(bytes.filter { $0 == 0x0A }.count == 1)
        #expect(bytes.last == 0x0A)
    }
}
