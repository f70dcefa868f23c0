// One connection of the command socket.

internal import Commands
internal import JSON
internal import Linux

/// A connected peer, what it has sent so far, and what it has not read yet.
final class Client {
    /// Nil once it was let go.
    private var socket: Descriptor?
    /// The socket's number, which means it only while it is held.
    let number: Int32
    let peer: PeerCredentials
    var token: EventLoop.Token?
    /// When it last sent something or was answered.
    var lastActive: Moment
    /// Requests that will be answered later.
    var waiting = 0
    private(set) var isSubscribed = false
    private(set) var isClosed = false
    private var reader = FrameReader()
    private var unsent: [UInt8] = []
    /// Descriptors sent since the peer had last taken everything.
    private var handedOut = 0
    private var eventToken = 0
    private var dropped = 0
    /// The newest state a slow reader has not got yet.
    private var latest: StatusReport?

    /// Bytes a peer may leave unread before it is dropped.
    private static let unsentLimit = 512 * 1024
    /// Descriptors a peer may leave untaken.
    private static let descriptorLimit = 2
    /// Bytes taken from one peer in one turn of the loop, so that the others get theirs.
    private static let turnLimit = 4096

    init(_ socket: consuming Descriptor, peer: PeerCredentials) {
        number = socket.number
        self.socket = consume socket
        self.peer = peer
        lastActive = .now
    }

    /// Whether there is something to be sent when it can take it.
    var wantsToWrite: Bool { !unsent.isEmpty }

    /// What one turn of reading gave.
    enum Arrival {
        case lines([[UInt8]])
        case ended
        case broken(FrameError)
    }

    /// Reads a bounded amount.
    func read() -> Arrival {
        guard !isClosed else { return .ended }
        switch try? readSome(number, limit: Self.turnLimit) {
        case .bytes(let bytes)?:
            lastActive = .now
            do { return .lines(try reader.append(bytes)) } catch { return .broken(error) }
        case .wouldBlock?: return .lines([])
        case .end?, nil: return .ended
        }
    }

    /// Queues a message and sends what the peer takes. A peer that does not read is closed.
    func send(_ message: JSON) {
        guard !isClosed else { return }
        unsent += Frame.encode(message)
        flush()
        if unsent.count > Self.unsentLimit { isClosed = true }
    }

    /// Sends a reply with a descriptor, which needs the peer to have taken everything before it but for a few descriptors. The
    /// kernel counts those nobody has taken, of all peers together, and takes no more at some point.
    func send(_ reply: Reply, descriptor: Int32) {
        guard !isClosed else { return }
        let bytes = Frame.encode(reply.json)
        flush()
        guard unsent.isEmpty else { return close() }
        if UnixSocket.hasTakenAll(number) { handedOut = 0 }
        guard handedOut < Self.descriptorLimit else { return send(Reply(id: reply.id, Self.notTaken).json) }
        do {
            guard let sent = try UnixSocket.send(number, bytes, descriptors: [descriptor]) else { return close() }
            handedOut += 1
            unsent = Array(bytes[sent...])
        } catch {
            let refusal = Failure(
                .noLog, "The log cannot be handed out: \(error).", remedy: "Close other Trocket programs, ask again.")
            send(Reply(id: reply.id, refusal).json)
        }
    }

    private static let notTaken = Failure(
        .busy, "Logs that were handed out before have not been taken yet.", remedy: "Take them, then ask again.")

    /// Sends what waits, as far as the peer takes it.
    func flush() {
        while !unsent.isEmpty, !isClosed {
            do {
                guard let sent = try UnixSocket.send(number, unsent) else { return }
                unsent.removeFirst(sent)
            } catch { isClosed = true }
        }
        guard unsent.isEmpty, let status = latest else { return }
        latest = nil
        event(status)
    }

    /// Begins to send the state.
    func subscribe(_ status: StatusReport) {
        isSubscribed = true
        event(status)
    }

    /// Tells a subscriber of a new state. One that has not read the state before gets only the newest, and how many it
    /// missed.
    func tell(_ status: StatusReport) {
        guard isSubscribed, !isClosed else { return }
        if wantsToWrite {
            if latest != nil { dropped += 1 }
            latest = status
        } else {
            event(status)
        }
    }

    private func event(_ status: StatusReport) {
        eventToken += 1
        let event = StateEvent(token: eventToken, dropped: dropped, status: status)
        dropped = 0
        send(event.json)
    }

    func close() { isClosed = true }

    /// Ends the connection for the peer now, even while a child that was just made holds a copy of the socket, and lets go of
    /// it and of what it sent, once; those who are to answer it later may keep the rest.
    func release() {
        close()
        UnixSocket.hangUp(number)
        socket = nil
        reader = FrameReader()
        unsent = []
        latest = nil
    }
}
