// Finding out who listens on a port of this machine.

import Glibc
import TestSockets
import Testing

@testable import Linux

@Suite struct LoopbackTests {
    private static let header =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private func table(_ rows: String) throws -> String {
        var template = Array("/tmp/loopback-test-XXXXXX\0".utf8CString)
        let file = mkstemp(&template)
        try writeAll(file, Array((Self.header + rows).utf8))
        close(file)
        return String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test func aListenerIsFoundBeforeTensOfThousandsOfOtherSockets() throws {
        let listener =
            "   0: 0100007F:D5FB 00000000:0000 0A 00000000:00000000 00:00000000 00000000   994        0 4242 1 0 100 0 0 10 0\n"
        let other =
            "   1: 0A7100CB:DD14 500002C0:14B5 06 00000000:00000000 03:00000F6B 00000000     0        0 0 3 0000000000000000\n"
        let path = try table(listener + String(repeating: other, count: 50_000))
        defer { unlink(path) }
        #expect(try Loopback.listener(on: 0xD5FB, table: path) == 994)
        #expect(try Loopback.listener(on: 0xDD14, table: path) == nil)
    }

    @Test func aListenerIsFoundBehindThousandsOfOtherListeners() throws {
        let others =
            "   0: 0100007F:DD14 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4241 1 0 100 0 0 10 0\n"
        let listener =
            "   1: 0100007F:D5FB 00000000:0000 0A 00000000:00000000 00:00000000 00000000   994        0 4242 1 0 100 0 0 10 0"
        let path = try table(String(repeating: others, count: 20_000) + listener)
        defer { unlink(path) }
        #expect(try Loopback.listener(on: 0xD5FB, table: path) == 994)
        #expect(try Loopback.listener(on: 0xD5FC, table: path) == nil)
    }

    @Test func whoListensHereIsThisUser() throws {
        let socket = try LoopbackListener(listening: false)
        #expect(try Loopback.listener(on: socket.port) == nil)
        try socket.listen()
        #expect(try Loopback.listener(on: socket.port) == getuid())
    }
}
