// What has come into the engine's place since the worker's first phase looked there.

import Commands
import Glibc
import Linux
import Testing

@testable import EngineHost

@Suite(.enabled(if: getuid() == 0, "only root can give files away"))
struct CheckTests {
    @Test func anEngineThatOthersCanChangeIsNotRun() throws {
        let engine = "/tmp/trocket-engine-\(getpid())"
        let pair = try SocketPair()
        let host = try EngineHost(
            socket: try pair.first.duplicate(),
            configuration: EngineHostConfiguration(
                engine: engine, stateRoot: "/nowhere", runDirectory: "/nowhere", ruleSets: "/nowhere"),
            user: 0)
        func refusal() -> String? {
            do throws(Failure) { _ = try host.checkMachine() } catch { return error.message }
            return nil
        }
        #expect(refusal()?.contains("missing") == true)
        close(open(engine, O_WRONLY | O_CREAT, 0o755))
        defer { unlink(engine) }
        #expect(refusal()?.contains("others than root") != true)
        chown(engine, 65_534, 0)
        #expect(refusal()?.contains("others than root") == true)
    }
}
