// What the engine host says when an engine ends.

import Addressing
import Glibc
import Linux
import NetworkPlan
import Testing

@testable import EngineHost

@Suite(.enabled(if: getuid() == 0, "the program in the engine's place must be root's, and the profile the tester's"))
struct EndTests {
    /// The worker asks no second time before it has an answer, so a listing that ends with the engine is answered as well.
    @Test func aListingThatWasWaitedForIsAnswered() async {
        // In a process of its own, for at an engine's end all that the process has started is ended.
        await #expect(processExitsWith: .success) {
            var template = Array("/tmp/trocket-end-XXXXXX".utf8CString)
            let root = try #require(
                template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
            _ = try Directory(makingAll: root + "/engine", mode: 0o700)
            try Directory(makingAll: root + "/users/0", mode: 0o700).replace(
                "profile.json", with: Array("{}".utf8), mode: 0o600)
            let pair = try SocketPair()
            let worker = try HostChannel(try pair.second.duplicate())
            // A shell finds no script of the name `run`, and ends.
            let host = try EngineHost(
                socket: try pair.first.duplicate(),
                configuration: EngineHostConfiguration(
                    engine: "/bin/sh", stateRoot: root, runDirectory: root, ruleSets: root),
                user: 0)
            let start = EngineStart(generation: 1, owner: 0, addresses: .preferred, redirects: true, hasIPv6: true)
            try host.launch(start)
            try #require(host.engine).isListed = true
            while host.engine != nil { try host.loop.turn(timeout: 10_000) }
            var told: [HostEvent] = []
            while case .message(let json, _) = worker.receive() {
                if let event = HostEvent(json: json) { told.append(event) }
            }
            #expect(told.contains(.listing([])))
            for path in ["users/0/profile.json", "users/0", "users", "engine/engine.log", "engine", ""] {
                remove("\(root)/\(path)")
            }
            #expect(access(root, F_OK) < 0)
        }
    }
}
