// Writing to descriptors that do not block.

import Glibc
import Linux
import Testing

@Suite struct WritingTests {
    @Test func aDescriptorThatWouldBlockIsWaitedFor() async throws {
        let pipe = try Pipe()
        try pipe.writer.setNonBlocking(true)
        let whole = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        // Nobody reads: without waiting it is an error as soon as the pipe is full.
        #expect(throws: SystemCallError.self) { try writeAll(pipe.writer.number, whole) }
        let other = try Pipe()
        try other.writer.setNonBlocking(true)
        let writer = other.writer.number
        let reader = other.reader.number
        let reading = Task.detached { () -> [UInt8] in
            var read: [UInt8] = []
            while read.count < whole.count, case .bytes(let bytes)? = try? readSome(reader) { read += bytes }
            return read
        }
        try writeAll(writer, whole, waiting: true)
        #expect(await reading.value == whole)
        withExtendedLifetime(other) {}
    }
}
