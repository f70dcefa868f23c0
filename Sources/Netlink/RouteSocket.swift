// A socket to the kernel's routing tables: sending requests, collecting answers, turning refusals into errors.

internal import CNetlink
internal import CNetlinkShims
internal import Linux

/// A socket to the kernel's links, addresses, routes and rules (rtnetlink(7)). It belongs to the network namespace it was
/// made in, whatever the thread does later. Used by one thread; never shared with a monitor.
package struct RouteSocket: ~Copyable {
    private let socket: OpaquePointer
    private let descriptor: Int32

    /// How long a silent kernel is waited for. It answers within the call, so this only ends a defect.
    private static let patience: Int32 = 5000
    /// How often a dump that was disturbed is taken again.
    private static let dumpAttempts = 8
    /// How many requests travel together; their refusals must fit the receive buffer.
    private static let batchSize = 128
    /// The kernel's dumps come in datagrams of at most 32 KiB.
    private static let datagramSize = 65_536

    /// Opens a socket in the calling thread's network namespace.
    /// - Throws: `NetlinkError`.
    package init() throws(NetlinkError) { try self.init(kind: NETLINK_ROUTE) }

    /// Opens a socket of another netlink family that speaks the same way.
    init(kind: Int32) throws(NetlinkError) {
        guard let socket = nl_socket_alloc() else { fatalError("out of memory while making a netlink socket") }
        // libnl's own codes say less than an error number, so a failed connect is explained by a probe.
        guard nl_connect(socket, kind) == 0 else {
            nl_socket_free(socket)
            throw NetlinkError("opening", "a netlink socket", Errno(rawValue: -cns_probe(kind)))
        }
        let descriptor = nl_socket_get_fd(socket)
        nl_socket_set_buffer_size(socket, 212_992, 212_992)
        let result = min(cns_set_strict(descriptor), cns_set_timeout(descriptor, Self.patience))
        guard result == 0 else {
            nl_socket_free(socket)
            throw NetlinkError("setting up", "a netlink socket", Errno(rawValue: -result))
        }
        self.socket = socket
        self.descriptor = descriptor
    }

    deinit { nl_socket_free(socket) }

    /// Sends one request and waits for its acknowledgement.
    func execute(
        _ request: borrowing Request, _ operation: String, _ subject: @autoclosure () -> String
    ) throws(NetlinkError) {
        let sequence = nl_socket_use_seq(socket)
        let bytes = request.bytes(sequence: sequence, adding: NLM_F_ACK)
        if let refusal = try exchange(bytes, sequence...sequence, operation).first {
            throw NetlinkError(operation, subject(), refusal.errno, kernelText: refusal.text)
        }
    }

    /// A request of a batch that was refused.
    struct Refusal {
        /// Its place in the batch.
        let position: Int
        let errno: Errno
        let text: String?
    }

    /// Sends many requests in few datagrams; only refusals are answered, and the last of each datagram.
    func executeAll(
        count: Int, _ operation: String, _ make: (Int) -> Request
    ) throws(NetlinkError) -> [Refusal] {
        var refusals: [Refusal] = []
        var start = 0
        while start < count {
            let end = min(start + Self.batchSize, count)
            var datagram: [UInt8] = []
            var first: UInt32 = 0
            var last: UInt32 = 0
            for position in start..<end {
                last = nl_socket_use_seq(socket)
                if position == start { first = last }
                let request = make(position)
                datagram += request.bytes(sequence: last, adding: position == end - 1 ? NLM_F_ACK : 0)
            }
            refusals += try exchange(datagram, first...last, operation).map {
                Refusal(position: start + $0.position, errno: $0.errno, text: $0.text)
            }
            start = end
        }
        return refusals
    }

    /// Sends a datagram of requests numbered by `sequences` and reads until the last one is answered.
    private func exchange(
        _ datagram: [UInt8], _ sequences: ClosedRange<UInt32>, _ operation: String
    ) throws(NetlinkError) -> [Refusal] {
        try send(datagram, operation)
        var refusals: [Refusal] = []
        var isAnswered = false
        while !isAnswered {
            try receive(operation) { reply in
                guard sequences.contains(reply.sequence), reply.isError else { return true }
                let outcome = reply.outcome
                if outcome.errno != 0 {
                    let position = Int(reply.sequence - sequences.lowerBound)
                    let errno = Errno(rawValue: outcome.errno)
                    refusals.append(Refusal(position: position, errno: errno, text: outcome.text))
                }
                if reply.sequence == sequences.upperBound { isAnswered = true }
                return !isAnswered
            }
        }
        return refusals
    }

    /// Asks for a list, or for one object, and calls the body with every answer. A list disturbed by a change is taken again.
    /// - Parameter single: the request names one object and is answered by one message.
    func dump(
        _ request: borrowing Request, single: Bool = false, _ operation: String, _ subject: String = "",
        _ each: (Reply) -> Void, restart: () -> Void
    ) throws(NetlinkError) {
        for _ in 0..<Self.dumpAttempts {
            let sequence = nl_socket_use_seq(socket)
            // One object is acknowledged after its answer, so both kinds have a last message to wait for.
            try send(request.bytes(sequence: sequence, adding: single ? NLM_F_ACK : NLM_F_DUMP), operation)
            var isDone = false
            var isDisturbed = false
            var failure: (errno: Int32, text: String?) = (0, nil)
            while !isDone {
                try receive(operation) { reply in
                    guard reply.sequence == sequence else { return true }
                    if reply.isInterrupted { isDisturbed = true }
                    if reply.isDone || reply.isError {
                        failure = reply.outcome
                        isDone = true
                        return false
                    }
                    each(reply)
                    return true
                }
            }
            if failure.errno != 0 {
                throw NetlinkError(operation, subject, Errno(rawValue: failure.errno), kernelText: failure.text)
            }
            if !isDisturbed { return }
            restart()
        }
        throw NetlinkError(operation, subject, .interrupted, kernelText: "the list kept changing while it was read")
    }

    /// Sends many questions in one datagram and reads until each has its answer, or its refusal.
    /// - Parameter each: called with the place of the question and its answer.
    func askAll(
        count: Int, _ operation: String, _ make: (Int) -> Request, each: (Int, Reply) -> Void
    ) throws(NetlinkError) {
        guard count > 0 else { return }
        var datagram: [UInt8] = []
        var first: UInt32 = 0
        for position in 0..<count {
            let sequence = nl_socket_use_seq(socket)
            if position == 0 { first = sequence }
            let request = make(position)
            datagram += request.bytes(sequence: sequence)
        }
        try send(datagram, operation)
        var answers = 0
        while answers < count {
            try receive(operation) { reply in
                let position = Int(reply.sequence &- first)
                guard position < count else { return true }
                each(position, reply)
                answers += 1
                return answers < count
            }
        }
    }

    private func send(_ datagram: [UInt8], _ operation: String) throws(NetlinkError) {
        let result = cns_send(descriptor, datagram, datagram.count)
        guard result == 0 else { throw NetlinkError(operation, "", Errno(rawValue: -result)) }
    }

    private func receive(_ operation: String, _ body: (Reply) -> Bool) throws(NetlinkError) {
        var count = 0
        withUnsafeTemporaryAllocation(byteCount: Self.datagramSize, alignment: 8) { buffer in
            count = cns_receive(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { Reply.forEach(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]), body) }
        }
        guard count >= 0 else { throw NetlinkError(operation, "", Errno(rawValue: Int32(-count))) }
    }
}
