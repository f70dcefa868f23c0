// The tunnel between its host's network, in a namespace of its own, and an engine host, which is the test.

import Addressing
import Commands
import EngineHost
import Glibc
import Linux
import Logging
import NamespaceSupport
import NetworkPlan
import Session
import Testing
import TunnelHost

@testable import Worker

@Suite(.enabled(if: canMakeNamespaces, "network namespaces need root"))
struct TunnelTests {
    private final class OwnedPeer {
        let socket: Descriptor
        init(_ socket: consuming Descriptor) throws {
            try socket.setNonBlocking(true)
            self.socket = socket
        }
    }

    /// A tunnel whose engine host says what the test says. Make it inside an exit test.
    private final class House {
        let path: String
        let loop: EventLoop
        let tunnel: Tunnel
        let sink = MemorySink()
        private let engineHost: HostChannel
        private var server: CommandServer?
        private var desk: Desk?

        init(_ prepare: (String) throws -> Void = { _ in }) throws {
            enterFreshNamespace()
            path = makeTemporaryDirectory()
            try prepare(path)
            loop = try EventLoop()
            let log = Log("test", sink: sink)
            let pair = try SocketPair()
            engineHost = try HostChannel(try pair.second.duplicate())
            tunnel = Tunnel(
                loop: loop, network: try HostNetwork(ledgerIn: try Directory(path), owner: 0, log: log),
                channel: try HostChannel(try pair.first.duplicate()), engineHost: ThisProcess.pid,
                memory: SessionMemory(in: try Directory(path), owner: 0, log: log),
                accounts: WorkerAccounts(worker: 0, workerGroup: 0, engine: 61002, engineGroup: 61002, clients: 0),
                domestic: DomesticFile(in: path, log: log), log: log)
            try tunnel.begin()
        }

        /// A peer of a command socket that leads to the tunnel; the desk behind it.
        func peer() throws -> (Desk, OwnedPeer) {
            let accounts = WorkerAccounts(worker: 0, workerGroup: 0, engine: 61002, engineGroup: 61002, clients: 0)
            let server = try CommandServer(
                loop: loop, listener: try UnixSocket.listen(path + "/socket", mode: 0o600), accounts: accounts,
                log: Log("test", sink: sink)
            ) { [unowned self] in desk?.take($0, from: $1) }
            self.server = server
            let made = Desk(
                tunnel: tunnel, server: server, settings: WorkerSettings(), logDirectory: try Directory(path))
            desk = made
            return (made, try OwnedPeer(try UnixSocket.connect(path + "/socket")))
        }

        /// Waits for an answer.
        func answer(_ peer: OwnedPeer, to request: Request) throws -> String {
            try writeAll(peer.socket.number, Frame.encode(request.json))
            var said = ""
            while !said.hasSuffix("\n") {
                try loop.turn(timeout: 10)
                if case .bytes(let bytes)? = try? readSome(peer.socket.number) {
                    said += String(decoding: bytes, as: UTF8.self)
                }
            }
            return said
        }

        func remove() { removeTemporaryDirectory(path) }

        /// What was asked of the engine host since the last look.
        func asked() -> [HostCall] {
            var calls: [HostCall] = []
            while case .message(let json, _) = engineHost.receive() { HostCall(json: json).map { calls.append($0) } }
            return calls
        }

        /// Has the engine host say something, and the tunnel hear it.
        func tell(_ events: HostEvent...) {
            for event in events { engineHost.send(event.json) }
            tunnel.hearEngineHost()
        }

        func started(_ generation: Int) -> HostEvent {
            .started(
                generation: generation, pid: 7, api: APIReport(address: "127.0.0.1:1", secret: "s"), profile: "1-f")
        }
    }

    private static func makeUnableToWrite() {
        signal(SIGXFSZ, SIG_IGN)
        var none = rlimit()
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none)
    }

    /// A repair takes thousands of times as long as asking for one.
    @Test func whoAsksForRepairsAllTheTimeGetsTheLastResult() async {
        await #expect(processExitsWith: .success) {
            let house = try House()
            let (_, peer) = try house.peer()
            func repairs() -> Int { house.sink.lines.count { $0.contains("disconnecting") } }
            let first = try house.answer(peer, to: Request(id: 1, .disconnect))
            #expect(repairs() == 1)
            // However slow this machine is, no time has passed.
            house.tunnel.lastDisconnect?.at = Moment.now.adding(milliseconds: 60_000)
            #expect(try house.answer(peer, to: Request(id: 1, .disconnect)) == first)
            #expect(repairs() == 1)
            house.tunnel.lastDisconnect?.at = Moment(nanoseconds: 0)
            _ = try house.answer(peer, to: Request(id: 1, .disconnect))
            #expect(repairs() == 2)
            house.remove()
        }
    }

    /// Only a worker that lives can take up a tunnel or be told to disconnect.
    @Test func aWorkerThatCannotRepairBeginsAllTheSame() async {
        await #expect(processExitsWith: .success) {
            let house = try House { path in
                try Self.closed(path)
                SessionMemory(in: try Directory(path), owner: 0, log: Log("test", sink: MemorySink())).remember(
                    Intent(owner: 1000, killSwitch: true))
                Self.makeUnableToWrite()
            }
            #expect(house.sink.lines.contains { $0.contains("cannot be repaired") })
            #expect(house.tunnel.session.phase.state == .reconnecting)
            house.remove()
        }
    }

    /// Nobody knows whose kill switch it was; it is put back and follows the networks all the same.
    @Test func aClosedKillSwitchWithoutARecordIsHeldAndWatched() async {
        await #expect(processExitsWith: .success) {
            let house = try House(Self.closed)
            #expect(house.tunnel.session.phase.state == .blocked)
            #expect(house.tunnel.network.isWatching)
            #expect(house.tunnel.network.installed.guardTable != nil)
            house.remove()
        }
    }

    /// Leaves a closed kill switch, as a worker does that dies.
    private static func closed(_ path: String) throws {
        let host = try HostNetwork(ledgerIn: try Directory(path), owner: 0, log: Log("test", sink: MemorySink()))
        try host.update(
            try host.survey().request(engine: UserID(rawValue: 61002), killSwitch: true, sandboxHasNft: true))
    }

    /// The engine host ends one engine and starts the next: it is not dead, and its last word on the first is not on the second.
    @Test func aStopThatIsOvertakenByAStartIsAnsweredAndHarmsNothing() async {
        await #expect(processExitsWith: .success) {
            let house = try House()
            let tunnel = house.tunnel
            let cause = Failure(.sandboxNetwork, "It cannot be wired.")
            let intent = Intent(owner: 1000, killSwitch: true)
            tunnel.handle(.connect(intent))
            house.tell(house.started(1), .wireFailed(generation: 1, cause))
            #expect(tunnel.session.phase == .blocked(cause))
            #expect(house.asked().last == .stop(generation: 1))
            #expect(tunnel.stopping?.generation == 1)
            // The engine has not ended yet.
            tunnel.handle(.connect(intent))
            house.tell(.stopped(generation: 1))
            #expect(tunnel.stopping == nil, "nobody waits for an answer that has come")
            #expect(tunnel.session.engineRuns)
            house.tell(house.started(2))
            #expect(tunnel.session.phase == .connecting(.engine))
            #expect(tunnel.engine != nil)
            tunnel.handle(.disconnect)
            #expect(house.asked().last == .stop(generation: 2))
            // A late word on the first is no answer.
            house.tell(.stopped(generation: 1))
            #expect(tunnel.stopping?.generation == 2)
            house.tell(.stopped(generation: 2))
            #expect(tunnel.session.phase == .disconnected(nil) && tunnel.stopping == nil)
            house.remove()
        }
    }
}
