// The loop runs timers in order, stops watching what was cancelled, and carries descriptors between sockets.

import Glibc
import Linux
import Testing

@Suite struct EventLoopTests {
    @Test func timersRunInOrderAndCancel() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        loop.after(milliseconds: 20) {
            order.append(2)
            loop.stop()
        }
        loop.after(milliseconds: 1) { order.append(1) }
        loop.cancel(loop.after(milliseconds: 2) { order.append(9) })
        try loop.run()
        #expect(order == [1, 2])
    }

    @Test func aCancelledWatchIsNotCalled() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        var calls = 0
        let token = try loop.watch(pipe.reader.number) { _ in calls += 1 }
        try writeAll(pipe.writer.number, [1])
        loop.cancel(token)
        try loop.turn(timeout: 0)
        #expect(calls == 0)
    }

    @Test func descriptorsTravel() throws {
        let pair = try SocketPair()
        let pipe = try Pipe()
        #expect(try UnixSocket.send(pair.first.number, [7], descriptors: [pipe.writer.number]) == 1)
        let message = try #require(try UnixSocket.receive(pair.second.number))
        #expect(message.bytes == [7])
        let writer = Descriptor(owning: try #require(message.descriptors.first))
        try writeAll(writer.number, [42])
        guard case .bytes([42]) = try readSome(pipe.reader.number) else {
            Issue.record("the byte did not arrive")
            return
        }
    }
}
