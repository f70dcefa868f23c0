// Files are replaced whole, and links, foreign owners and oversized files are refused by name.

import Glibc
import Linux
import Testing

@Suite struct SecureFileTests {
    fileprivate func withDirectory(_ body: (borrowing Directory, String) throws -> Void) throws {
        var template = Array("/tmp/trocket-test-XXXXXX".utf8CString)
        let path = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
        let directory = try Directory(path)
        defer {
            for name in (try? directory.names()) ?? [] { unlink("\(path)/\(name)") }
            rmdir(path)
        }
        try body(directory, path)
    }

    @Test func replaceAndRead() throws {
        try withDirectory { directory, _ in
            #expect(try directory.read("a", owner: getuid(), limit: 10) == nil)
            try directory.replace("a", with: [1, 2, 3], mode: 0o640)
            try directory.replace("a", with: [4], mode: 0o600)
            #expect(try directory.read("a", owner: getuid(), limit: 10) == [4])
            #expect(try directory.names() == ["a"])
            #expect(throws: UntrustedFile.self) { try directory.read("a", owner: getuid() &+ 1, limit: 10) }
            #expect(throws: UntrustedFile.self) { try directory.read("a", owner: nil, limit: 0) }
        }
    }

    @Test func linksAndEscapesAreRefused() throws {
        try withDirectory { directory, path in
            symlink("/etc/passwd", "\(path)/link")
            #expect(throws: UntrustedFile.self) { try directory.read("link", owner: nil, limit: 1 << 20) }
            #expect(throws: SystemCallError.self) { try directory.read("../../etc/passwd", owner: nil, limit: 1 << 20) }
            mkfifo("\(path)/fifo", 0o600)
            #expect(throws: UntrustedFile.self) { try directory.read("fifo", owner: nil, limit: 10) }
        }
    }

    /// A hostile program's directory: deep, closed, with names in the way.
    @Test func clearingTakesEverythingButWhatIsNamed() throws {
        try withDirectory { directory, path in
            try directory.replace("kept", with: [1], mode: 0o600)
            try directory.replace("file", with: [1], mode: 0o000)
            symlink("/etc", "\(path)/link")
            mkfifo("\(path)/fifo", 0o600)
            var inner = path
            for depth in 0..<60 {
                inner += "/\(depth % 2 == 0 ? "kept2" : ".1")"
                mkdir(inner, 0o700)
                try Directory(inner).replace("file", with: [1], mode: 0o600)
                symlink("/etc/passwd", inner + "/link")
            }
            chmod("\(path)/kept2/.1", 0)
            chmod("\(path)/kept2", 0)
            try directory.clear(keeping: ["kept"])
            #expect(try directory.names() == ["kept"])
            #expect(access("/etc/passwd", R_OK) == 0)
            try directory.clear()
            #expect(try directory.names() == [])
        }
    }

    /// Names that are no text, or too much of it, and paths longer than the kernel takes.
    @Test func clearingTakesWhatHasNoReadableName() throws {
        try withDirectory { directory, path in
            let names: [[UInt8]] = [
                [0xFF], [0xFF, 0xFE], [0xC3, 0x28], Array("line\nline\n".utf8), [0xEF, 0xBF, 0xBD], [0x20],
                [UInt8](repeating: 0xE9, count: 255),
            ]
            func fill(_ place: Int32) {
                for name in names { close(openat(place, name.map(CChar.init(bitPattern:)) + [0], O_CREAT, 0)) }
            }
            fill(directory.descriptor.number)
            var place = dup(directory.descriptor.number)
            for depth in 0..<40 {
                let name = [CChar](repeating: CChar(bitPattern: 0x80 + UInt8(depth)), count: 250) + [0]
                #expect(mkdirat(place, name, 0o700) == 0)
                let inner = openat(place, name, O_RDONLY | O_DIRECTORY)
                close(place)
                place = inner
                fill(place)
            }
            fchmod(place, 0)
            close(place)
            try directory.clear()
            #expect(rmdir(path) == 0, "whatever the names say, nothing is left")
        }
    }

    @Test func whatCannotBeDeletedIsAnError() throws {
        // Nobody may delete in /proc.
        let threads = try Directory("/proc/self/task")
        #expect(throws: SystemCallError.self) { try threads.clear() }
    }

    /// In a process of its own: children of others would hold copies of the lock until they begin their programs.
    @Test func aLockExcludesTheNext() async {
        await #expect(processExitsWith: .success) {
            try SecureFileTests().withDirectory { directory, _ in
                let held = try directory.lock()
                let error = #expect(throws: SystemCallError.self) { _ = try directory.lock(wait: false) }
                #expect(error?.errno == .wouldBlock)
                held.close()
                _ = try directory.lock(wait: false)
            }
        }
    }
}
