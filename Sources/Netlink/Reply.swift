// Reading netlink messages back from raw bytes, with every length checked.

internal import CNetlink

/// One netlink message inside a received datagram.
struct Reply {
    let type: UInt16
    let flags: UInt16
    let sequence: UInt32
    /// What follows the header.
    let payload: UnsafeRawBufferPointer

    static let headerSize = MemoryLayout<nlmsghdr>.size

    /// Calls the body with every message in a datagram, until it returns false. A length that runs past the datagram ends it.
    static func forEach(in datagram: UnsafeRawBufferPointer, _ body: (Reply) throws -> Bool) rethrows {
        var rest = datagram
        while rest.count >= headerSize {
            let header = rest.loadUnaligned(as: nlmsghdr.self)
            let length = Int(header.nlmsg_len)
            guard length >= headerSize, length <= rest.count else { return }
            let reply = Reply(
                type: header.nlmsg_type, flags: header.nlmsg_flags, sequence: header.nlmsg_seq,
                payload: UnsafeRawBufferPointer(rebasing: rest[headerSize..<length]))
            guard try body(reply) else { return }
            rest = UnsafeRawBufferPointer(rebasing: rest[min(aligned(length), rest.count)...])
        }
    }

    /// The family header at the start of the payload; nil when the message is too short for it.
    func header<Header: BitwiseCopyable>(_ type: Header.Type) -> Header? {
        payload.count >= MemoryLayout<Header>.size ? payload.loadUnaligned(as: type) : nil
    }

    /// The attributes behind a family header.
    func attributes<Header>(after: Header.Type) -> Attributes {
        let start = min(Self.aligned(MemoryLayout<Header>.size), payload.count)
        return Attributes(bytes: UnsafeRawBufferPointer(rebasing: payload[start...]))
    }

    /// True for NLMSG_ERROR, which is also the form of an acknowledgement.
    var isError: Bool { Int32(type) == NLMSG_ERROR }
    /// True for the end of a dump.
    var isDone: Bool { Int32(type) == NLMSG_DONE }
    /// True when a dump was disturbed by a change and is not consistent.
    var isInterrupted: Bool { Int32(flags) & NLM_F_DUMP_INTR != 0 }

    /// The error number of an error or of the end of a dump (0: none), and the kernel's sentence.
    var outcome: (errno: Int32, text: String?) {
        guard let code = header(Int32.self) else { return (22, nil) }
        guard Int32(flags) & NLM_F_ACK_TLVS != 0 else { return (-code, nil) }
        var start = MemoryLayout<Int32>.size
        if isError {
            guard let error = header(nlmsgerr.self) else { return (-code, nil) }
            let isCapped = Int32(flags) & NLM_F_CAPPED != 0
            start += Self.aligned(isCapped ? Self.headerSize : Int(error.msg.nlmsg_len))
        }
        guard start <= payload.count else { return (-code, nil) }
        let attributes = Attributes(bytes: UnsafeRawBufferPointer(rebasing: payload[start...]))
        return (-code, attributes.string(Int(NLMSGERR_ATTR_MSG.rawValue)))
    }

    static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

/// The attributes of a message; looked up by scan, as there are few.
struct Attributes {
    let bytes: UnsafeRawBufferPointer

    /// The bytes of the first attribute of a type; nil when there is none.
    subscript(type: Int) -> UnsafeRawBufferPointer? {
        var rest = bytes
        let headerSize = MemoryLayout<nlattr>.size
        while rest.count >= headerSize {
            let header = rest.loadUnaligned(as: nlattr.self)
            let length = Int(header.nla_len)
            guard length >= headerSize, length <= rest.count else { return nil }
            // The two highest bits say "nested" and "network byte order".
            if Int(header.nla_type) & 0x3fff == type {
                return UnsafeRawBufferPointer(rebasing: rest[headerSize..<length])
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[min(Reply.aligned(length), rest.count)...])
        }
        return nil
    }

    /// Calls the body with the type and the bytes of every attribute.
    func forEach(_ body: (Int, UnsafeRawBufferPointer) -> Void) {
        var rest = bytes
        let headerSize = MemoryLayout<nlattr>.size
        while rest.count >= headerSize {
            let header = rest.loadUnaligned(as: nlattr.self)
            let length = Int(header.nla_len)
            guard length >= headerSize, length <= rest.count else { return }
            body(Int(header.nla_type) & 0x3fff, UnsafeRawBufferPointer(rebasing: rest[headerSize..<length]))
            rest = UnsafeRawBufferPointer(rebasing: rest[min(Reply.aligned(length), rest.count)...])
        }
    }

    /// An attribute that is a plain value; nil when absent or too short.
    func value<Value: BitwiseCopyable>(_ type: Int, as: Value.Type = Value.self) -> Value? {
        guard let bytes = self[type], bytes.count >= MemoryLayout<Value>.size else { return nil }
        return bytes.loadUnaligned(as: Value.self)
    }

    /// An attribute that is text, up to its zero.
    func string(_ type: Int) -> String? {
        self[type].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// The attributes inside an attribute.
    func nested(_ type: Int) -> Attributes? { self[type].map(Attributes.init(bytes:)) }
}
