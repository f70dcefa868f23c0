// The command socket holds out against peers that are slow, loud, many or talk nonsense.

import Commands
import Glibc
import JSON
import Linux
import Logging
import Testing

@testable import Worker

@Suite struct CommandServerTests {
    /// A server in a directory of its own that answers every call with `{}`.
    private final class House {
        let loop: EventLoop
        let path: String
        let directory: String
        var server: CommandServer?
        var taken = 0
        /// Whether a copy of the socket a request came by is kept, as by a child that has not yet begun its program.
        var keepsCopies = false
        var copies: [Int32] = []
        /// Those whose answer is to come later, when it is set.
        var kept: [Client]?
        /// What every answer carries, when it is set.
        var descriptor: Int32?

        init() throws {
            var template = Array("/tmp/trocket-server-XXXXXX".utf8CString)
            directory = try #require(
                template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
            path = directory + "/command.sock"
            loop = try EventLoop()
            var accounts = WorkerAccounts(testing: getgid())
            accounts.engine = getuid() + 1
            server = try CommandServer(
                loop: loop, listener: try UnixSocket.listen(path, mode: 0o600), accounts: accounts,
                log: Log("test", sink: MemorySink())
            ) { [unowned self] request, client in
                taken += 1
                if keepsCopies { copies.append(dup(client.number)) }
                guard kept == nil else {
                    kept?.append(client)
                    return
                }
                let reply = Reply(id: request.id, ok: [:])
                if let descriptor {
                    server?.answer(client, reply, descriptor: descriptor)
                } else {
                    server?.answer(client, reply)
                }
            }
        }

        deinit {
            copies.forEach { Descriptor(owning: $0).close() }
            unlink(path)
            rmdir(directory)
        }

        /// Lets the loop run until there is nothing left to do.
        func settle() throws { for _ in 0..<40 { try loop.turn(timeout: 0) } }

        /// A connected peer that does not wait.
        func peer() throws -> Descriptor {
            let peer = try UnixSocket.connect(path)
            try peer.setNonBlocking(true)
            return peer
        }
    }

    private func hear(_ peer: borrowing Descriptor) -> String? {
        guard case .bytes(let bytes)? = try? readSome(peer.number) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func hello(_ id: Int) -> [UInt8] { Frame.encode(Request(id: id, .hello).json) }

    @Test func requestsInPiecesAndInBatchesAreAnswered() throws {
        let house = try House()
        let peer = try house.peer()
        let bytes = hello(1) + hello(2)
        try writeAll(peer.number, Array(bytes[..<10]))
        try house.settle()
        #expect(hear(peer) == nil)
        try writeAll(peer.number, Array(bytes[10...]))
        try house.settle()
        #expect(hear(peer) == "{\"id\":1,\"ok\":{}}\n{\"id\":2,\"ok\":{}}\n")
    }

    @Test(arguments: ["nonsense\n", "[]\n", "{\"v\":1,\"id\":1,\"call\":\"\u{1}\"}\n"])
    func nonsenseIsAnsweredAndEndsTheConnection(text: String) throws {
        let house = try House()
        let peer = try house.peer()
        let other = try house.peer()
        try writeAll(peer.number, Array(text.utf8))
        try house.settle()
        #expect(hear(peer)?.contains("bad-request") == true)
        guard case .end? = try? readSome(peer.number) else {
            Issue.record("the connection was kept")
            return
        }
        try writeAll(other.number, hello(1))
        try house.settle()
        #expect(hear(other) != nil, "the others are served")
    }

    @Test func aConnectionEndsThoughSomebodyHoldsACopyOfItsSocket() throws {
        let house = try House()
        house.keepsCopies = true
        let peer = try house.peer()
        try writeAll(peer.number, hello(1) + Array("nonsense\n".utf8))
        try house.settle()
        #expect(house.copies.count == 1)
        let answers = hear(peer)?.split(separator: "\n") ?? []
        #expect(answers.count == 2 && answers.last?.contains("bad-request") == true, "what was sent is read first")
        guard case .end? = try? readSome(peer.number) else {
            Issue.record("the connection was kept")
            return
        }
    }

    @Test func anUnknownCallKeepsTheConnection() throws {
        let house = try House()
        let peer = try house.peer()
        try writeAll(peer.number, Array("{\"v\":1,\"id\":5,\"call\":\"reboot\"}\n".utf8) + hello(6))
        try house.settle()
        let answers = hear(peer)?.split(separator: "\n") ?? []
        #expect(answers.count == 2)
        #expect(answers.first?.contains("unknown-call") == true)
    }

    @Test func aLineWithoutEndIsRefused() throws {
        let house = try House()
        let peer = try house.peer()
        for _ in 0..<40 {
            _ = try? UnixSocket.send(peer.number, [UInt8](repeating: 0x41, count: 4096))
            try house.settle()
        }
        #expect(hear(peer)?.contains("too-large") == true)
    }

    @Test func aPeerThatNeverReadsIsDropped() throws {
        let house = try House()
        let deaf = try house.peer()
        let batch = (0..<100).flatMap { hello($0) }
        var dropped = false
        for _ in 0..<4000 where !dropped {
            do { _ = try UnixSocket.send(deaf.number, batch) } catch { dropped = true }
            try house.loop.turn(timeout: 0)
        }
        #expect(dropped)
        let other = try house.peer()
        try writeAll(other.number, hello(1))
        try house.settle()
        #expect(hear(other) != nil)
    }

    @Test func aPeerThatHangsUpBeforeItsAnswerCostsNoDescriptor() throws {
        let house = try House()
        house.kept = []
        let peer = try house.peer()
        try writeAll(peer.number, hello(1))
        try house.settle()
        let waiting = try #require(house.kept?.first)
        func inode() -> UInt64? { try? FileStatus(of: waiting.number, subject: "client").inode }
        let held = try #require(inode())
        peer.close()
        try house.settle()
        #expect(inode() != held, "the number is free, or somebody else has it")
        house.kept?.forEach { house.server?.answer($0, Reply(id: 1, ok: [:])) }
    }

    /// What nobody takes counts for all peers together.
    @Test func descriptorsThatAreNotTakenAreNotAddedTo() throws {
        let house = try House()
        house.descriptor = STDERR_FILENO
        let peer = try house.peer()
        /// Asks for five, then takes what is there: the descriptors, and how often it was refused.
        func ask() throws -> (descriptors: Int, refusals: Int) {
            try writeAll(peer.number, (1...5).flatMap { hello($0) })
            try house.settle()
            var (count, text) = (0, "")
            while let message = try UnixSocket.receive(peer.number), !message.bytes.isEmpty {
                message.descriptors.forEach { Descriptor(owning: $0).close() }
                count += message.descriptors.count
                text += String(decoding: message.bytes, as: UTF8.self)
            }
            return (count, text.split(separator: "\n").count { $0.contains("busy") })
        }
        #expect(try ask() == (2, 3))
        #expect(try ask() == (2, 3), "once they are taken there are more")
    }

    @Test func aDescriptorThatCannotBeSentIsRefusedInWords() throws {
        let house = try House()
        house.descriptor = Int32.max
        let peer = try house.peer()
        for id in 1...2 {
            try writeAll(peer.number, hello(id))
            try house.settle()
            #expect(hear(peer)?.contains("no-log") == true)
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root can have so many groups"))
    func aPeerThatCannotBeServedCostsNobodyElseTheConnection() async {
        await #expect(processExitsWith: .success) {
            let house = try House()
            let others = [OwnPeer(try house.peer()), OwnPeer(try house.peer())]
            try house.settle()
            // More than can be asked for.
            let many = (0..<2_000).map { gid_t($0) }
            try #require(setgroups(many.count, many) == 0)
            let odd = try house.peer()
            try house.settle()
            guard case .end? = try? readSome(odd.number) else {
                Issue.record("it is served")
                return
            }
            for peer in others {
                try writeAll(peer.socket.number, Frame.encode(Request(id: 1, .hello).json))
                try house.settle()
                guard case .bytes? = try? readSome(peer.socket.number) else {
                    Issue.record("another one was dropped")
                    return
                }
            }
        }
    }

    /// A connected peer in a list.
    private final class OwnPeer {
        let socket: Descriptor
        init(_ socket: consuming Descriptor) { self.socket = socket }
    }

    @Test func manyConnectionsDoNotKeepANewOneOut() throws {
        let house = try House()
        var peers: [Int32] = []
        defer { peers.forEach { Descriptor(owning: $0).close() } }
        for _ in 0..<200 {
            peers.append(try house.peer().release())
            try house.settle()
        }
        let late = try house.peer()
        try writeAll(late.number, hello(1))
        try house.settle()
        #expect(hear(late) != nil)
        #expect(house.taken == 1)
    }
}

extension WorkerAccounts {
    /// Accounts for a test: everyone of this group is a client.
    fileprivate init(testing group: UInt32) {
        self.init(worker: getuid(), workerGroup: group, engine: getuid(), engineGroup: group, clients: group)
    }
}
