// What an engine finds in its directory.

import Glibc
import Linux
import Testing

@testable import EngineHost

@Suite struct FolderTests {
    /// The first 80 bytes of a cache that sing-box 1.14.2 wrote: a page header, the rest secured by the last 8 bytes.
    private static let memory: [UInt8] =
        [0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0xED, 0xDA, 0x0C, 0xED, 2, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0]
        + [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]
        + [2, 0, 0, 0, 0, 0, 0, 0, 0x2B, 0xBD, 0xA8, 0x51, 0x22, 0xB6, 0xA3, 0x69]

    /// The engine can make neither, and ends over a memory that is damaged.
    @Test(arguments: [(nil, true), (0, true), (16, false), (20, false), (40, false), (79, false)] as [(Int?, Bool)])
    func itsFilesAreThereAndAMemoryOnlyIfItIsWhole(_ damaged: Int?, _ isKept: Bool) throws {
        var template = Array("/tmp/trocket-folder-XXXXXX".utf8CString)
        let root = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
        let folder = try Directory(makingAll: root + "/engine", mode: 0o700)
        var bytes = Self.memory
        if let damaged { bytes[damaged] ^= 1 }
        for name in ["cache.db", "rubbish"] { try folder.replace(name, with: bytes, mode: 0o600) }
        let configuration = EngineHostConfiguration(
            engine: "/bin/sh", stateRoot: root, runDirectory: root, ruleSets: root)
        try EngineFolder(configuration).prepare()
        #expect(try folder.names().sorted() == ["cache.db", "holder.pid"])
        #expect(try folder.read("cache.db", owner: nil, limit: 100) == (isKept ? bytes : []))
        #expect(try folder.read("holder.pid", owner: nil, limit: 100) == [])
        for path in ["engine/cache.db", "engine/holder.pid", "engine", ""] { remove("\(root)/\(path)") }
    }
}
