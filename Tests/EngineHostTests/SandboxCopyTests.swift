// What a copy of the engine host answers, and that one which does not is not waited for.

import Glibc
import JSON
import Linux
import Testing

@testable import EngineHost

/// Each in a process of its own: a copy that is made while other threads hold locks of the runtime has these locks for good.
@Suite struct SandboxCopyTests {
    /// Runs one to its answer; nil when none came in ten seconds.
    fileprivate static func answer(within milliseconds: Int, _ work: () throws -> JSON) throws -> JSON? {
        let loop = try EventLoop()
        var found: JSON?
        let copy = try SandboxCopy(in: loop, within: milliseconds, work) { found = $0 }
        let deadline = Moment.now.adding(milliseconds: 10_000)
        while found == nil, Moment.now < deadline { try loop.turn(timeout: 10_000) }
        copy.end()
        return found
    }

    @Test func itsAnswerIsHandedOn() async {
        await #expect(processExitsWith: .success) {
            #expect(try SandboxCopyTests.answer(within: 10_000) { ["wired": true] } == ["wired": true])
            let failed = try SandboxCopyTests.answer(within: 10_000) {
                throw SystemCallError("looking", "there", .notPermitted)
            }
            #expect(failed?["failure"].string?.contains("looking there") == true)
        }
    }

    @Test func oneThatIsStuckIsEnded() async {
        await #expect(processExitsWith: .success) {
            // The kernel's word that no copy is left: its end of this pipe is closed.
            let pipe = try Pipe()
            let stuck = try SandboxCopyTests.answer(within: 20) {
                while true { pause() }
            }
            #expect(stuck?["failure"].string?.contains("longer") == true)
            let reader = pipe.keepingReader()
            #expect(try readAll(reader.number, limit: 1, subject: "pipe").isEmpty)
        }
    }
}
