// The command socket: who may connect, how many, how much, and handing requests to the tunnel.

internal import Commands
internal import JSON
internal import Linux
internal import Logging

/// Serves the clients of the command socket. Every one of them may be hostile.
///
/// Concurrency: one thread, on the worker's loop.
final class CommandServer {
    /// Answers one request, now or later, through the client.
    typealias Handler = (Request, Client) -> Void

    private let loop: EventLoop
    private let listener: Descriptor
    private let accounts: WorkerAccounts
    private let log: Log
    private let handler: Handler
    private var clients: [Int32: Client] = [:]
    private var listening: EventLoop.Token?
    /// Connections taken in one turn of the loop.
    private static let turnLimit = 16

    init(
        loop: EventLoop, listener: consuming Descriptor, accounts: WorkerAccounts, log: Log,
        handler: @escaping Handler
    ) throws(SystemCallError) {
        self.loop = loop
        self.listener = listener
        self.accounts = accounts
        self.log = log
        self.handler = handler
        listening = try loop.watch(self.listener.number) { [unowned self] _ in accept() }
    }

    /// Tells every subscriber of a new state.
    func publish(_ status: (Client) -> StatusReport) {
        for client in Array(clients.values) where client.isSubscribed {
            client.tell(status(client))
            settle(client)
        }
    }

    /// Answers a request.
    func answer(_ client: Client, _ reply: Reply) {
        client.send(reply.json)
        settle(client)
    }

    /// Answers a request with a descriptor.
    func answer(_ client: Client, _ reply: Reply, descriptor: Int32) {
        client.send(reply, descriptor: descriptor)
        settle(client)
    }

    private func accept() {
        for _ in 0..<Self.turnLimit {
            let accepted: Descriptor
            do {
                guard let socket = try UnixSocket.accept(listener.number) else { return }
                accepted = socket
            } catch {
                // Out of descriptors, or the peer has gone already: the rest of the queue comes with the next turn.
                log(.warning, "a connection was lost", ["error": "\(error)"])
                if clients.count > 1 { dropIdlest() }
                return
            }
            do { try welcome(accepted) } catch {
                // This peer's trouble, and nobody else's.
                log(.warning, "a peer cannot be served", ["error": "\(error)"])
            }
        }
    }

    private func welcome(_ socket: consuming Descriptor) throws(SystemCallError) {
        let peer = try PeerCredentials(of: socket.number)
        let client = Client(socket, peer: peer)
        guard peer.user != accounts.engine, peer.user == 0 || peer.isMember(of: accounts.clients) else {
            log(.warning, "refused a peer", ["uid": "\(peer.user)", "pid": "\(peer.pid)"])
            client.send(Reply(id: nil, Self.notPermitted).json)
            return
        }
        if clients.count >= CommandProtocol.clientLimit, !dropIdlest() {
            client.send(Reply(id: nil, Self.tooMany).json)
            return
        }
        client.token = try loop.watch(client.number) { [unowned self] readiness in ready(client, readiness) }
        clients[client.number] = client
    }

    private static let notPermitted = Failure(
        .notPermitted, "This user may not use Trocket's worker.",
        remedy: "Join the group trocket (usermod -aG trocket USER) and log in again.")
    private static let tooMany = Failure(
        .tooManyClients, "All \(CommandProtocol.clientLimit) places of the worker's socket are taken.",
        remedy: "Close other Trocket programs.")

    /// Drops a connection that waits for no answer: of the user who has most of them, the one that has been silent longest,
    /// subscribers last. So one user cannot take the places of another.
    /// - Returns: false when every one is busy.
    @discardableResult
    private func dropIdlest() -> Bool {
        var counts: [UInt32: Int] = [:]
        for client in clients.values { counts[client.peer.user, default: 0] += 1 }
        let idlest = clients.values.filter { $0.waiting == 0 }.min { left, right in
            let (mine, theirs) = (counts[left.peer.user] ?? 0, counts[right.peer.user] ?? 0)
            if mine != theirs { return mine > theirs }
            if left.isSubscribed != right.isSubscribed { return right.isSubscribed }
            return left.lastActive < right.lastActive
        }
        guard let idlest else { return false }
        drop(idlest)
        return true
    }

    private func ready(_ client: Client, _ readiness: Readiness) {
        if readiness.contains(.writable) { client.flush() }
        if !readiness.isDisjoint(with: [.readable, .hangUp, .failed]) {
            switch client.read() {
            case .lines(let lines): for line in lines where !client.isClosed { take(line, from: client) }
            case .ended: client.close()
            case .broken(let error):
                client.send(Reply(id: nil, error.failure).json)
                client.close()
            }
        }
        settle(client)
    }

    private func take(_ line: [UInt8], from client: Client) {
        let json: JSON
        do throws(FrameError) { json = try Frame.decode(line) } catch {
            client.send(Reply(id: nil, error.failure).json)
            return client.close()
        }
        do throws(Failure) { handler(try Request(json: json), client) } catch {
            client.send(Reply(id: Request.id(of: json), error).json)
        }
    }

    /// Watches for what the client waits for now, or lets go of one that is done for.
    private func settle(_ client: Client) {
        guard !client.isClosed else { return drop(client) }
        guard let token = client.token else { return }
        try? loop.rewatch(token, client.wantsToWrite ? [.readable, .writable] : .readable)
    }

    private func drop(_ client: Client) {
        client.close()
        guard let token = client.token else { return }
        loop.cancel(token)
        client.token = nil
        clients[client.number] = nil
        client.release()
    }
}
