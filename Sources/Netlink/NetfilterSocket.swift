// A netlink socket to nftables: transactions and listings in messages of our own, for what libnftables cannot do or only with
// a thousand times the memory.

internal import CNetlink
internal import CNetlinkShims
internal import Linux

/// A netfilter socket that does not block and has no answer waiting, such as the one of a libnftables context: a table with
/// an owner obeys only the socket it was made through (linux/netfilter/nf_tables.h).
package struct NetfilterSocket: Sendable {
    private let descriptor: Int32

    /// - Parameter descriptor: the socket, which stays its owner's.
    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// One message of a transaction.
    struct Message {
        /// NFT_MSG_*.
        let type: UInt16
        var flags: Int32 = 0
        let attributes: [UInt8]
    }

    /// Carries out messages as one transaction: all of them or none.
    /// - Throws: `NetlinkError` with the first refusal.
    func change(_ messages: [Message], _ operation: String, _ subject: String) throws(NetlinkError) {
        var datagram = Self.bytes(Self.batchBegin, flags: 0, resource: Self.subsystem, [])
        for message in messages {
            datagram += Self.bytes(
                Self.subsystem << 8 | message.type, flags: message.flags | NLM_F_ACK, family: Self.inet,
                message.attributes)
        }
        datagram += Self.bytes(Self.batchEnd, flags: 0, resource: Self.subsystem, [])
        try send(datagram, operation, subject)
        // Every message has its answer, all of which wait by now.
        var isAnswered = false
        try receive(operation, subject, whileAnyWait: true) { reply in
            if reply.isError { isAnswered = true }
            return false
        }
        guard isAnswered else { throw NetlinkError(operation, subject, .wouldBlock) }
    }

    /// Lists objects. A list that changes while it is read comes again, from the start; of a set's elements, which come in one
    /// datagram unless there are hundreds, the kernel does not tell (seen with Linux 6.18).
    /// - Parameters:
    ///   - ask: the NFT_MSG_GET* to send.
    ///   - answer: the NFT_MSG_NEW* that comes back for each.
    ///   - attributes: which objects.
    ///   - start: what is known before the first of them.
    ///   - each: adds an object to it.
    /// - Throws: `NetlinkError`, also when there is no such table or set.
    func list<Found>(
        _ ask: UInt16, _ answer: UInt16, _ attributes: [UInt8], _ subject: String, addingTo start: Found,
        _ each: (inout Found, Attributes) -> Void
    ) throws(NetlinkError) -> Found {
        let request = Self.bytes(Self.subsystem << 8 | ask, flags: NLM_F_DUMP, family: Self.inet, attributes)
        for _ in 0..<Self.dumpAttempts {
            try send(request, "listing", subject)
            var found = start
            var isDisturbed = false
            try receive("listing", subject, whileAnyWait: false) { reply in
                if reply.isInterrupted { isDisturbed = true }
                if reply.isDone || reply.isError { return true }
                if reply.type == Self.subsystem << 8 | answer {
                    each(&found, reply.attributes(after: GenericHeader.self))
                }
                return false
            }
            if !isDisturbed { return found }
        }
        throw NetlinkError(
            "listing", subject, .interrupted, kernelText: "the list kept changing while it was read")
    }

    // MARK: Bytes

    /// nfgenmsg (linux/netfilter/nfnetlink.h).
    private struct GenericHeader: BitwiseCopyable {
        var family: UInt8
        var version: UInt8 = 0
        /// In network byte order.
        var resource: UInt16
    }

    /// NFNL_SUBSYS_NFTABLES.
    private static let subsystem: UInt16 = 10
    /// NFNL_MSG_BATCH_BEGIN and NFNL_MSG_BATCH_END.
    private static let batchBegin: UInt16 = 16
    private static let batchEnd: UInt16 = 17
    /// NFPROTO_INET.
    private static let inet: UInt8 = 1
    private static let sequence: UInt32 = 0x7472_6f63
    private static let dumpAttempts = 10

    private static func bytes(
        _ type: UInt16, flags: Int32, family: UInt8 = 0, resource: UInt16 = 0, _ payload: [UInt8]
    ) -> [UInt8] {
        let header = GenericHeader(family: family, resource: resource.bigEndian)
        let size = Reply.headerSize + MemoryLayout<GenericHeader>.size + payload.count
        let start = nlmsghdr(
            nlmsg_len: UInt32(size), nlmsg_type: type, nlmsg_flags: UInt16(NLM_F_REQUEST | flags),
            nlmsg_seq: sequence, nlmsg_pid: 0)
        return withUnsafeBytes(of: start) { Array($0) } + withUnsafeBytes(of: header) { Array($0) } + payload
    }

    private func send(_ datagram: [UInt8], _ operation: String, _ subject: String) throws(NetlinkError) {
        let result = cns_send(descriptor, datagram, datagram.count)
        guard result == 0 else { throw NetlinkError(operation, subject, Errno(rawValue: -result)) }
    }

    /// Reads answers: the kernel has them all waiting, or makes them as they are read.
    /// - Parameters:
    ///   - whileAnyWait: until none waits any more, instead of until the last.
    ///   - isLast: takes an answer and says whether it is the last.
    private func receive(
        _ operation: String, _ subject: String, whileAnyWait: Bool, _ isLast: (Reply) -> Bool
    ) throws(NetlinkError) {
        var refusal: Errno?
        var failure: Errno?
        var isOver = false
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
            while !isOver {
                let count = cns_receive(descriptor, buffer.baseAddress, buffer.count)
                guard count >= 0 else {
                    failure = Errno(rawValue: Int32(-count))
                    return
                }
                Reply.forEach(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) { reply in
                    guard reply.sequence == Self.sequence else { return true }
                    if reply.isError || reply.isDone, reply.outcome.errno != 0 {
                        refusal = refusal ?? Errno(rawValue: reply.outcome.errno)
                    }
                    if isLast(reply) { isOver = true }
                    return true
                }
            }
        }
        if let refusal { throw NetlinkError(operation, subject, refusal) }
        if let failure, !(whileAnyWait && failure == .wouldBlock) { throw NetlinkError(operation, subject, failure) }
    }
}

/// A netlink attribute under construction.
struct NetfilterAttribute {
    private(set) var bytes: [UInt8]

    private static let nested: UInt16 = 1 << 15

    /// An attribute with a value.
    init(_ type: Int, _ value: [UInt8]) {
        bytes = []
        header(UInt16(type), value.count)
        bytes += value
        while bytes.count % 4 != 0 { bytes.append(0) }
    }

    /// An attribute that is a text.
    init(_ type: Int, _ text: String) { self.init(type, Array(text.utf8) + [0]) }

    /// An attribute that is a number in network byte order.
    init(_ type: Int, _ number: UInt32) {
        self.init(type, withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }

    /// An attribute that holds others.
    init(_ type: Int, holding others: [NetfilterAttribute] = []) {
        bytes = []
        header(UInt16(type) | Self.nested, 0)
        for other in others { add(other.bytes) }
    }

    /// Adds an attribute to one that holds others.
    mutating func add(_ other: [UInt8]) {
        bytes += other
        withUnsafeBytes(of: UInt16(bytes.count)) { size in
            bytes[0] = size[0]
            bytes[1] = size[1]
        }
    }

    private mutating func header(_ type: UInt16, _ length: Int) {
        withUnsafeBytes(of: UInt16(length + 4)) { bytes += $0 }
        withUnsafeBytes(of: type) { bytes += $0 }
    }
}
