// Finding and reading the engine's program; the real one where TROCKET_ENGINE names it.

import ImportReport
import Testing

@testable import EngineControl

@Suite struct EngineBinaryTests {
    @Test func readsReleaseAndTags() throws {
        let found = try #require(
            EngineVersion.parse("sing-box version 1.14.2\n\nEnvironment: go1.27\nTags: with_quic,with_clash_api\n"))
        #expect(found.version.description == "1.14.2")
        #expect(found.capabilities.tags == ["with_quic", "with_clash_api"])
        #expect(!found.capabilities.utls)
        #expect(EngineVersion.parse("sing-box version unknown") == nil)
        #expect(EngineVersion.parse("hello") == nil)
    }

    @Test func comparesReleases() throws {
        let order = ["1.8.0", "1.13.12", "1.14.0-rc.1", "1.14.0", "1.14.2", "1.15.0-alpha.1", "2.0.0"]
        let versions = order.compactMap { EngineVersion($0) }
        #expect(versions.count == order.count)
        #expect(versions.shuffled().sorted() == versions)
        #expect(versions.map(\.isSupported) == [false, false, true, true, true, true, true])
    }

    @Test func namesAMissingEngine() {
        #expect(throws: EngineFailure.missing(searched: ["/nonexistent/sing-box"])) {
            try EngineBinary.locate { $0 == "TROCKET_ENGINE" ? "/nonexistent/sing-box" : nil }
        }
    }

    @Test func refusesAProgramThatIsNoEngine() {
        #expect(throws: EngineFailure.notAnEngine(path: "/bin/true")) { try EngineBinary(at: "/bin/true") }
    }

    @Test func takesTheSentenceOutOfTheWords() {
        let words = "WARN[0000] something\nFATAL[0000] decode config at /dev/fd/3: outbounds[0]: unknown type\n"
        #expect(EngineBinary.sentence(words) == "outbounds[0]: unknown type")
        #expect(EngineRun.plain("\u{1b}[31mFATAL\u{1b}[0m[0000] x") == "FATAL[0000] x")
    }
}
