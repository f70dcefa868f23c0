// The controller's end of the worker's socket.

package import Commands
package import JSON
import Linux
import Messages

/// A connection to the worker. Calls wait for their answers; events of a subscription are handed out while waiting.
package final class WorkerClient {
    private let socket: Descriptor
    private var reader = FrameReader()
    private var lines: [[UInt8]] = []
    private var descriptors: [Int32] = []
    private var nextID = 1
    /// Takes the events of a subscription.
    package var onEvent: (StateEvent) -> Void = { _ in }

    /// Called four times a second while an answer is waited for; what it throws ends the waiting.
    package var onIdle: () throws -> Void = {}

    /// The socket, to be waited on together with others; call `readEvents()` when it is readable.
    package var descriptor: Int32 { socket.number }

    /// Connects and makes sure that it is the worker that answers: root (which opens the socket) or user `trocket`.
    /// - Parameter isOurs: the socket's path was named by the user, so that a worker of the user's own may answer.
    /// - Throws: `Failure`: `worker-not-running`, `not-in-group`, `foreign-worker`.
    package init(_ path: String, isOurs: Bool) throws {
        do { socket = try UnixSocket.connect(path) } catch {
            switch error.errno {
            case .accessDenied, .notPermitted: throw Failure.notInGroup(path)
            case .noSuchFile, .connectionRefused, .notADirectory: throw Failure.workerNotRunning(path)
            default: throw error
            }
        }
        let peer = try PeerCredentials(of: socket.number)
        guard
            peer.user == 0 || peer.user == Surroundings.user(named: "trocket")
                || (isOurs && peer.user == Surroundings.user)
        else { throw Failure.foreignWorker(path, peer.user) }
    }

    deinit { descriptors.forEach { Descriptor(owning: $0).close() } }

    /// Makes a call and waits for its answer.
    /// - Parameter milliseconds: at most so long.
    /// - Throws: `Failure`, the worker's own included; code `worker-timeout` when it does not answer in time.
    package func call(_ call: Call, milliseconds: Int = 5000) throws -> JSON {
        let id = nextID
        nextID += 1
        try send(Frame.encode(Request(id: id, call).json))
        let deadline = Moment.now.adding(milliseconds: milliseconds)
        while true {
            guard let message = try next(before: deadline) else { throw Failure.workerTimeout(call.name) }
            switch message {
            case .state(let event): onEvent(event)
            case .reply(let reply) where reply.id == id || reply.id == nil:
                switch reply.outcome {
                case .success(let value): return value
                case .failure(let failure): throw Failure.worker(failure)
                }
            case .reply: continue
            }
        }
    }

    /// The worker's view of the tunnel.
    package func status(network: Bool = false) throws -> StatusReport {
        guard let status = StatusReport(json: try call(.status(network: network))) else {
            throw Failure.workerUnreadable("status")
        }
        return status
    }

    /// Who the worker is.
    package func hello() throws -> HelloReport {
        guard let hello = HelloReport(json: try call(.hello)) else { throw Failure.workerUnreadable("hello") }
        return hello
    }

    /// A read-only descriptor of one of the worker's logs; the caller closes it.
    package func log(_ source: LogSource) throws -> Int32 {
        _ = try call(.logs(source))
        guard !descriptors.isEmpty else { throw Failure.workerUnreadable("logs") }
        return descriptors.removeFirst()
    }

    /// Hands out the events that have arrived.
    /// - Parameter milliseconds: how long to wait for the first; 0 only looks.
    /// - Throws: `Failure` when the worker is gone.
    package func readEvents(milliseconds: Int = 0) throws {
        var deadline = Moment.now.adding(milliseconds: milliseconds)
        while let message = try next(before: deadline) {
            if case .state(let event) = message { onEvent(event) }
            deadline = Moment.now
        }
    }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            do {
                guard let sent = try UnixSocket.send(socket.number, Array(rest)) else { continue }
                rest = rest.dropFirst(sent)
            } catch {
                // A worker that has hung up may have said why before: what is there to read tells.
                guard error.errno == .brokenPipe else { throw error }
                return
            }
        }
    }

    /// The next message; nil when none comes in time.
    private func next(before deadline: Moment) throws -> ServerMessage? {
        while true {
            while !lines.isEmpty {
                let line = lines.removeFirst()
                // The listing of the network is long but flat.
                if let message = ServerMessage(json: try Frame.decode(line, maximumDepth: 32)) { return message }
            }
            let left = deadline.milliseconds(since: Moment.now)
            let ready = wait(for: [(socket.number, .readable)], milliseconds: min(left, 250))
            guard !ready[0].isEmpty else {
                if left <= 250 { return nil }
                try onIdle()
                continue
            }
            let received: ReceivedMessage?
            do { received = try UnixSocket.receive(socket.number) } catch {
                throw error.errno == .connectionReset ? Failure.workerGone : error
            }
            guard let message = received else { continue }
            descriptors += message.descriptors
            guard !message.bytes.isEmpty else { throw Failure.workerGone }
            lines += try reader.append(message.bytes)
        }
    }
}

extension Context {
    /// A new connection to the worker.
    package func worker() throws -> WorkerClient {
        try WorkerClient(socket, isOurs: !(variable("TROCKET_SOCKET") ?? "").isEmpty)
    }
}
