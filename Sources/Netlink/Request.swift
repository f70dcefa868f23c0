// Building one netlink request with libnl's message functions.

internal import Addressing
internal import CNetlink

/// One netlink request under construction, freed with its owner. The caller sets type and flags; sequence and port are set
/// when it is sent.
struct Request: ~Copyable {
    private let message: OpaquePointer

    /// A request of a type (`RTM_NEWROUTE` and the like) with flags besides NLM_F_REQUEST, starting with a family header.
    init<Header: BitwiseCopyable>(_ type: Int, flags: Int32, _ header: Header) {
        guard let message = nlmsg_alloc_simple(Int32(type), NLM_F_REQUEST | flags) else {
            fatalError("out of memory while building a netlink request")
        }
        self.message = message
        append(header)
    }

    deinit { nlmsg_free(message) }

    /// Appends a plain kernel structure.
    func append<Value: BitwiseCopyable>(_ value: Value) {
        var value = value
        let result = nlmsg_append(message, &value, MemoryLayout<Value>.size, Int32(NLMSG_ALIGNTO))
        precondition(result == 0, "a netlink request outgrew its page")
    }

    /// Puts an attribute.
    func put(_ type: Int, bytes: [UInt8]) {
        precondition(
            nla_put(message, Int32(type), Int32(bytes.count), bytes) == 0, "a netlink request outgrew its page")
    }

    /// Puts an integer attribute in host byte order, as rtnetlink wants it.
    func put(_ type: Int, _ value: some FixedWidthInteger) {
        put(type, bytes: withUnsafeBytes(of: value) { Array($0) })
    }

    /// Puts a string attribute with its final zero.
    func put(_ type: Int, _ text: String) { put(type, bytes: Array(text.utf8) + [0]) }

    /// Puts attributes inside another.
    func nest(_ type: Int, _ body: () -> Void) {
        let place = nla_nest_start(message, Int32(type))
        body()
        nla_nest_end(message, place)
    }

    /// The finished bytes.
    func bytes(sequence: UInt32, adding flags: Int32 = 0) -> [UInt8] {
        let header = nlmsg_hdr(message)!
        header.pointee.nlmsg_seq = sequence
        header.pointee.nlmsg_flags |= UInt16(flags)
        return Array(UnsafeRawBufferPointer(start: header, count: Int(header.pointee.nlmsg_len)))
    }
}

extension AddressFamily {
    /// AF_INET or AF_INET6.
    var number: UInt8 { self == .ipv4 ? 2 : 10 }

    init?(number: UInt8) {
        switch number {
        case 2: self = .ipv4
        case 10: self = .ipv6
        default: return nil
        }
    }
}
