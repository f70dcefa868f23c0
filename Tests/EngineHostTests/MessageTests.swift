// Worker and engine host understand each other, and the engine's log stays bounded.

import Commands
import Glibc
import JSON
import Linux
import NetworkPlan
import Testing

@testable import EngineHost

@Suite struct MessageTests {
    @Test func callsComeBack() {
        let start = EngineStart(
            generation: 3, owner: 1000, addresses: .preferred, redirects: true, hasIPv6: false)
        for call in [
            HostCall.start(start), .wire(generation: 3), .mode(generation: 3), .stop(generation: 3), .listing, .log,
        ] {
            #expect(HostCall(json: call.json) == call)
        }
        #expect(HostCall(json: ["call": "start", "generation": 1]) == nil)
        #expect(HostCall(json: ["call": "exec"]) == nil)
    }

    @Test func eventsComeBack() {
        let failure = Failure(.engineExited, "It ended.", remedy: "Look.")
        let api = APIReport(address: "127.0.0.1:1", secret: "s")
        let events: [HostEvent] = [
            .started(generation: 1, pid: 7, api: api, profile: "5-ff"), .mode(generation: 1, isRule: true),
            .mode(generation: 1, isRule: false), .unchanged(generation: 1), .namespace(generation: 1),
            .ready(generation: 1), .wired(generation: 1), .wireFailed(generation: 1, failure),
            .failed(generation: 1, failure), .stopped(generation: 1), .listing(["a"]), .log(nil), .log(failure),
        ]
        for event in events { #expect(HostEvent(json: event.json) == event) }
    }

    @Test func onlyAWholeAnswerNamesTheMode() {
        func isRule(_ text: String) -> Bool { EngineHost.isRule(Array(text.utf8)) }
        let head = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"
        #expect(isRule(head + #"{"port":0,"mode":"Rule","mode-list":["Rule","Global"]}"# + "\n"))
        #expect(!isRule(head + #"{"port":0,"mode":"Global","mode-list":["Rule","Global"]}"#))
        #expect(!isRule(head + #"{"port":0,"mode":"Rule","mode-li"#))
        #expect(!isRule(#"HTTP/1.0 401 Unauthorized"# + "\r\n\r\n" + #"{"mode":"Rule"}"#))
        #expect(!isRule(#"{"mode":"Rule"}"#))
        #expect(!isRule(""))
    }

    @Test func profilesAreToldApart() {
        #expect(RunningEngine.fingerprint([1, 2]) == RunningEngine.fingerprint([1, 2]))
        #expect(Set([[], [0], [0, 0], [1, 2], [2, 1]].map(RunningEngine.fingerprint)).count == 5)
    }

    @Test func theChannelKeepsMessagesApart() throws {
        let pair = try SocketPair()
        let first = try HostChannel(try pair.first.duplicate())
        let second = try HostChannel(pair.keepingSecond())
        #expect(first.send(HostCall.stop(generation: 1).json))
        #expect(first.send(HostCall.log.json, descriptor: STDERR_FILENO))
        guard case .message(let one, let none) = second.receive(), case .message(let two, let some) = second.receive()
        else {
            Issue.record("a message is missing")
            return
        }
        some.forEach { Descriptor(owning: $0).close() }
        #expect(HostCall(json: one) == .stop(generation: 1))
        #expect(HostCall(json: two) == .log)
        #expect((none.count, some.count) == (0, 1))
        guard case .nothing = second.receive() else {
            Issue.record("there is one message too many")
            return
        }
    }

    @Test func theLogIsMovedAsideWhenFull() throws {
        var template = Array("/tmp/trocket-log-XXXXXX".utf8CString)
        let path = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
        defer {
            for name in ["engine.log", "engine.log.1"] { unlink("\(path)/\(name)") }
            rmdir(path)
        }
        let log = EngineLog(directory: path)
        log.begin(for: 1000)
        let line = [UInt8](repeating: 0x78, count: 65_535) + [0x0A]
        for _ in 0..<200 { log.append(line) }
        #expect(log.lines == 200)
        let folder = try Directory(path)
        #expect(try folder.names() == ["engine.log", "engine.log.1"])
        let sizes = try folder.names().map { name in
            let file = try folder.open(name)
            return try FileStatus(of: file.number, subject: name).size
        }
        #expect(sizes.allSatisfy { $0 > 0 && $0 <= 4 << 20 })
        log.begin(for: 1001)
        #expect(log.lines == 0)
        #expect(try folder.names() == ["engine.log"], "another user's engine left nothing to read")
    }

    /// What the engine of one user wrote names every host that user visited; a restart or a boot makes no difference.
    @Test func theLogOfAnotherIsForgottenThoughTheProcessIsNew() throws {
        var template = Array("/tmp/trocket-log-XXXXXX".utf8CString)
        let path = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
        defer {
            unlink("\(path)/engine.log")
            rmdir(path)
        }
        func written(by owner: UInt32, _ text: String) throws -> String {
            let log = EngineLog(directory: path)
            log.begin(for: owner)
            log.append(Array(text.utf8))
            let reader = try log.reader()
            return String(decoding: try readAll(reader.number, limit: 1 << 16, subject: "log"), as: UTF8.self)
        }
        _ = try written(by: 1000, "secret.example\n")
        #expect(try written(by: 1000, "more\n").hasSuffix("\nsecret.example\nmore\n"), "one's own is kept")
        #expect(try !written(by: 100, "x\n").contains("secret.example"))
        _ = try written(by: 1000, "secret.example\n")
        #expect(try !written(by: 10001, "x\n").contains("secret.example"))
    }

    @Test(arguments: [
        ("{\"outbounds\":[],\"route\":{}}", nil), ("{\"outbounds\":", "no JSON"), ("[]", "no JSON object"),
        ("{\"inbounds\":[]}", "inbounds"), ("{\"experimental\":{}}", "experimental"), ("{\"log\":null}", "log"),
        ("{\"network_namespaces\":[]}", "network_namespaces"), ("{\"services\":[]}", "services"),
        ("{\"Inbounds\":[]}", "Inbounds"), ("{\"\\u017fervices\":[]}", "\u{017f}ervices"), ("{\"ntp\":{}}", "ntp"),
    ])
    func aProfileSaysWhereTrafficGoesAndNothingElse(text: String, problem: String?) {
        do throws(Failure) {
            try EngineHost.checkProfile(Array(text.utf8))
            #expect(problem == nil)
        } catch {
            #expect(error.code == .badProfile)
            #expect(error.message.contains(problem ?? "never"))
        }
    }
}
