// What the engine host says when an engine ends.

import Addressing
import Glibc
import Linux
import NetworkPlan
import Testing

@testable import EngineHost

@Suite(
    .enabled(if: getuid() == 0, "the program in the engine's place must be root's, and the profile the tester's"),
    .enabled(if: access("/dev/net/tun", R_OK | W_OK) == 0, "an engine is given a TUN device: run `modprobe tun`"))
struct EndTests {
    /// An engine host whose engine ends at once, for a shell finds no script of the name `run`; and the worker's end. Make it
    /// inside an exit test: at an engine's end all that the process has started is ended.
    private final class House {
        let root: String
        let worker: HostChannel
        let host: EngineHost

        init() throws {
            var template = Array("/tmp/trocket-end-XXXXXX".utf8CString)
            root = try #require(
                template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
            _ = try Directory(makingAll: root + "/engine", mode: 0o700)
            try Directory(makingAll: root + "/users/0", mode: 0o700).replace(
                "profile.json", with: Array("{}".utf8), mode: 0o600)
            let pair = try SocketPair()
            worker = try HostChannel(try pair.second.duplicate())
            host = try EngineHost(
                socket: try pair.first.duplicate(),
                configuration: EngineHostConfiguration(
                    engine: "/bin/sh", stateRoot: root, runDirectory: root, ruleSets: root),
                user: 0)
        }

        func start(_ generation: Int) -> EngineStart {
            EngineStart(generation: generation, owner: 0, addresses: .preferred, redirects: true, hasIPv6: true)
        }

        /// Waits until no engine runs; all that the worker was told.
        func heard() throws -> [HostEvent] {
            while host.engine != nil { try host.loop.turn(timeout: 10_000) }
            var told: [HostEvent] = []
            while case .message(let json, _) = worker.receive() { HostEvent(json: json).map { told.append($0) } }
            return told
        }

        func remove() {
            for path in [
                "users/0/profile.json", "users/0", "users", "engine/engine.log", "engine/cache.db", "engine/holder.pid",
                "engine", "",
            ] {
                Glibc.remove("\(root)/\(path)")
            }
            #expect(access(root, F_OK) < 0)
        }
    }

    /// The worker asks no second time before it has an answer, so a listing that ends with the engine is answered as well.
    @Test func aListingThatWasWaitedForIsAnswered() async {
        await #expect(processExitsWith: .success) {
            let house = try House()
            try house.host.launch(house.start(1))
            try #require(house.host.engine).isListed = true
            #expect(try house.heard().contains(.listing([])))
            house.remove()
        }
    }

    /// What an engine gone wrong has left takes as long as it likes to remove.
    @Test func theAnswerToAStopDoesNotWaitForTidying() async {
        await #expect(processExitsWith: .success) {
            let house = try House()
            try house.host.launch(house.start(1))
            let engine = try #require(house.host.engine)
            try Directory(house.root + "/engine").replace("left", with: [1], mode: 0o600)
            house.host.answer(.stop(generation: 1))
            // Its end is not waited for in the loop, which would tidy at once.
            engine.exitCode = engine.process.wait()
            house.host.finish(engine)
            #expect(try house.heard().contains(.stopped(generation: 1)))
            #expect(access(house.root + "/engine/left", F_OK) == 0)
            while access(house.root + "/engine/left", F_OK) == 0 { try house.host.loop.turn(timeout: 10_000) }
            house.remove()
        }
    }

    /// The worker counts an engine host that does not answer as dead, also when it has asked for the next engine meanwhile.
    @Test func aStopThatIsOvertakenByAStartIsAnsweredFirst() async {
        await #expect(processExitsWith: .success) {
            let house = try House()
            house.host.answer(.start(house.start(1)))
            house.host.answer(.stop(generation: 1))
            house.host.answer(.start(house.start(2)))
            let told = try house.heard()
            let answer = try #require(told.firstIndex(of: .stopped(generation: 1)))
            let next = told.firstIndex { if case .started(generation: 2, _, _, _) = $0 { true } else { false } }
            #expect(answer < (try #require(next)))
            house.remove()
        }
    }
}
