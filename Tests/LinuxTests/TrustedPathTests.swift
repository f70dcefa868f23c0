// Files that others than root can change, or choose, are told.

import Glibc
import Linux
import Testing

@Suite(.enabled(if: getuid() == 0, "only root can give files away"))
struct TrustedPathTests {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let path = "/tmp/trocket-trusted-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        mkdir(path, 0o755)
        defer {
            for name in ["engine", "link", "inner"] { remove("\(path)/\(name)") }
            rmdir(path)
        }
        try body(path)
    }

    private func make(_ path: String) { close(open(path, O_WRONLY | O_CREAT, 0o755)) }

    @Test func whatOthersCanChangeIsNotTrusted() throws {
        #expect(try TrustedPath.check("/bin/sh") != nil)
        try withDirectory { (path: String) throws in
            let engine = path + "/engine"
            make(engine)
            #expect(try TrustedPath.check(engine) == engine)
            chmod(path, 0o775)
            #expect(throws: UntrustedFile.self) { try TrustedPath.check(engine) }
            chmod(path, 0o755)
            chown(engine, 65_534, 0)
            #expect(throws: UntrustedFile.self) { try TrustedPath.check(engine) }
        }
    }

    /// Who can make what is missing chooses what will run.
    @Test func whatIsMissingIsNoLessTrustedThanWhereItWouldBe() throws {
        #expect(try TrustedPath.check("/trocket-is-not-here/bin/engine") == nil)
        try withDirectory { (path: String) throws in
            #expect(try TrustedPath.check(path + "/engine") == nil)
            #expect(try TrustedPath.check(path + "/inner/deeper/engine") == nil)
            chown(path, 65_534, 0)
            #expect(throws: UntrustedFile.self) { try TrustedPath.check(path + "/engine") }
            #expect(throws: UntrustedFile.self) { try TrustedPath.check(path + "/inner/deeper/engine") }
        }
    }

    /// A link that others can turn is no harm where the path it led to is used.
    @Test func linksAreFollowedOnceAndForAll() throws {
        try withDirectory { (path: String) throws in
            make(path + "/engine")
            mkdir(path + "/inner", 0o777)
            chmod(path + "/inner", 0o777)
            symlink(path + "/engine", path + "/inner/link")
            #expect(try TrustedPath.check(path + "/inner/link") == path + "/engine")
            unlink(path + "/inner/link")
        }
    }
}
