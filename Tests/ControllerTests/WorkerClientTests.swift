// The controller's end of the socket against a worker that says what it is told.

import Commands
import Glibc
import JSON
import Linux
import Messages
import TestSockets
import Testing

@testable import Controller

/// A worker on a thread of its own: it serves one connection, reads a request for each answer, and closes at the end.
final class FakeWorker {
    let path: String
    private let directory: TemporaryDirectory

    /// - Parameter answers: the lines sent after each request, without line feeds.
    init(_ answers: [[String]]) throws {
        // A socket's path has 108 bytes (unix(7)).
        directory = try TemporaryDirectory(in: "/tmp")
        path = directory.path + "/command.sock"
        let listener = try UnixSocket.listen(path, mode: 0o600)
        try listener.setNonBlocking(false)
        let context = Unmanaged.passRetained(Script(listener, answers)).toOpaque()
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { raw in
                if let raw { Unmanaged<Script>.fromOpaque(raw).takeRetainedValue().play() }
                return nil
            }, context)
        pthread_detach(thread)
    }

    private final class Script {
        let listener: Descriptor
        let answers: [[String]]
        init(_ listener: consuming Descriptor, _ answers: [[String]]) {
            self.listener = listener
            self.answers = answers
        }

        func play() {
            guard let peer = try? nextConnection(listener.number) else { return }
            for lines in answers {
                guard case .bytes? = try? readSome(peer.number) else { break }
                for line in lines { reply(to: peer, line + "\n") }
            }
        }
    }
}

@Suite struct WorkerClientTests {
    private func client(_ worker: FakeWorker) throws -> WorkerClient { try WorkerClient(worker.path, isOurs: true) }

    @Test func readsTheStatus() throws {
        let worker = try FakeWorker([
            [#"{"id":1,"ok":{"state":"connected","mine":true,"since":7,"api":{"address":"127.0.0.1:9","secret":"s"}}}"#]
        ])
        let status = try client(worker).status()
        #expect(status.state == .connected)
        #expect(status.api == APIReport(address: "127.0.0.1:9", secret: "s"))
    }

    @Test func handsOutEventsThatComeBeforeTheAnswer() throws {
        let worker = try FakeWorker([
            [
                #"{"event":"state","token":1,"dropped":0,"status":{"state":"connecting","stage":"engine"}}"#,
                #"{"event":"state","token":2,"dropped":0,"status":{"state":"connecting","stage":"link"}}"#,
                #"{"id":1,"ok":{"state":"connected"}}"#,
            ]
        ])
        let client = try client(worker)
        var stages: [ConnectStage?] = []
        client.onEvent = { stages.append($0.status.stage) }
        _ = try client.call(.connect(ConnectOptions()))
        #expect(stages == [.engine, .link])
    }

    @Test func aWorkerThatHasHungUpIsSaidToBeGone() throws {
        let client = try client(try FakeWorker([]))
        _ = wait(for: [(client.descriptor, .readable)], milliseconds: 5_000)
        #expect { try client.status() } throws: { ($0 as? Controller.Failure)?.code == "worker-gone" }
    }

    @Test func passesTheWorkersFailureOn() throws {
        let worker = try FakeWorker([
            [#"{"id":1,"error":{"code":"no-tun","message":"Cannot open /dev/net/tun.","remedy":"Run modprobe tun."}}"#]
        ])
        let client = try client(worker)
        #expect {
            try client.call(.connect(ConnectOptions()))
        } throws: { error in
            guard let failure = error as? Controller.Failure else { return false }
            return failure.code == "no-tun" && failure.exit == .unavailable
                && failure.message(.english) == "Cannot open /dev/net/tun."
        }
    }

    @Test func saysThatTheWorkerIsGone() throws {
        let client = try client(try FakeWorker([[]]))
        #expect { try client.status() } throws: { ($0 as? Controller.Failure)?.code == "worker-gone" }
    }

    @Test func saysThatTheAnswerCannotBeUnderstood() throws {
        let client = try client(try FakeWorker([[#"{"id":1,"ok":{"state":"dreaming"}}"#]]))
        #expect { try client.status() } throws: { ($0 as? Controller.Failure)?.code == "worker-unreadable" }
    }

    @Test func saysThatNoWorkerRuns() {
        #expect {
            try WorkerClient("/nonexistent/command.sock", isOurs: false)
        } throws: { error in
            guard let failure = error as? Controller.Failure else { return false }
            return failure.code == "worker-not-running" && failure.exit == .unavailable
        }
    }
}

@Suite struct StandingTests {
    private func context() throws -> (Context, TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let output = Output(
            language: .english, json: false, quiet: false, isWatched: false, columns: 80, writeOutput: { _ in },
            writeError: { _ in })
        return (Context(output: output, variable: { _ in nil }, user: 1000, stateDirectory: directory.path), directory)
    }

    @Test func aBlockedTunnelSaysWhyAndWhatToDo() throws {
        let (context, directory) = try context()
        defer { withExtendedLifetime(directory) {} }
        var status = StatusReport(state: .blocked)
        status.mine = true
        status.owner = 1000
        status.killSwitch = true
        status.reason = Commands.Failure(.engineExited, "The engine ended three times.", remedy: "See the log.")
        let standing = Standing(context, Tunnel(status, context), proving: .never)
        #expect(
            standing.text(.english) == [
                "State        blocked",
                "Reason       The engine ended three times. Nothing but local traffic leaves this machine now.",
                "             → trocket-controller disconnect opens the network, trocket-controller connect tries again. "
                    + "See the log.",
                "Mode         rule (domestic traffic goes direct)", "Kill switch  on",
            ])
        let json = standing.json(.english)
        #expect(json["state"] == "blocked")
        #expect(json["reason"]["code"] == "engine-exited")
        #expect(json["traffic"].object?.keys == ["up", "down", "upTotal", "downTotal"])
        #expect(json["proof"].isNull)
    }

    /// The sentences are the worker's, see `DNSProtection`.
    @Test func theWayOfNamesIsSaidInBothLanguages() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let source = try UserFile.read(root + "/Sources/TunnelHost/DNSBackend.swift", limit: 1 << 20)
        let told = String(decoding: source, as: UTF8.self)
        for (method, words) in Messages.dns {
            #expect(told.contains("\"\(words.english)"), "\(method)")
            let text = try #require(
                Standing.dnsText(["method": .string(method), "secured": true, "detail": .string(words.english)]))
            #expect(text.chinese == "已接管：" + words.chinese)
            #expect(text.english == "inside the tunnel: " + words.english)
        }
        let refusal = "systemd-resolved could not be told to ask through the tunnel (Access denied): it goes around."
        let text = try #require(
            Standing.dnsText(["method": "refused", "secured": false, "detail": .string(refusal)]))
        #expect(text.english == "not fully inside the tunnel: " + refusal)
        #expect(text.chinese.hasPrefix("没有完全接管：systemd-resolved 没有接受") && text.chinese.contains("Access denied"))
        #expect(Standing.dnsText(["method": "new"]) == Text(verbatim: "new"))
        #expect(Standing.dnsText([:]) == nil)
    }

    @Test func aProofStandsForOneConnectionLineAndMode() {
        var status = StatusReport(state: .connected)
        status.since = 100
        status.engine = EngineReport(pid: 7, restarts: 0)
        func subject(_ line: String?, _ automatic: String? = nil, mode: String = "Rule") -> String {
            Proof.subject(status, line: line, automatic: automatic, mode: mode)
        }
        let proof = subject("a")
        #expect(proof == subject("a", "x"))
        #expect(proof != subject("b"))
        #expect(proof != subject("a", mode: "Global"))
        // What was proven through the automatic choice was proven of the line it used.
        #expect(subject("auto", "a") != subject("auto", "b"))
        #expect(subject("auto", "a") != subject("auto"))
        // The network changed, or something of ours had to be put right.
        status.networkChanges += 1
        #expect(proof != subject("a"))
        status.networkChanges -= 1
        status.engine?.pid = 8
        #expect(proof != subject("a"))
    }

    @Test func aProofThatWasGivenUpIsNotRemembered() throws {
        let (context, directory) = try context()
        defer { withExtendedLifetime(directory) {} }
        let given = Proof(at: 5, milliseconds: nil, error: nil, subject: "s")
        #expect(!given.isGood)
        given.save(context)
        #expect(Proof.load(context) == nil)
    }

    @Test func aProofIsRememberedForTheUserAlone() throws {
        let (context, directory) = try context()
        defer { withExtendedLifetime(directory) {} }
        let proof = Proof(at: 5, milliseconds: 42, error: nil, subject: "s")
        proof.save(context)
        #expect(Proof.load(context) == proof)
        let folder = try Directory(directory.path)
        let file = try folder.open("proof.json")
        #expect(try FileStatus(of: file.number, subject: "proof.json").mode == 0o600)
    }
}
