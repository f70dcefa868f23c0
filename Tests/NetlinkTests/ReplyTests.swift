// Reading messages from raw bytes: whole ones, torn ones, and the kernel's own words.

import Testing

@testable import Netlink

@Suite struct ReplyTests {
    private func replies(_ bytes: [UInt8]) -> [(UInt16, UInt32, Int)] {
        var found: [(UInt16, UInt32, Int)] = []
        bytes.withUnsafeBytes { buffer in
            Reply.forEach(in: buffer) {
                found.append(($0.type, $0.sequence, $0.payload.count))
                return true
            }
        }
        return found
    }

    /// length, type 0x14, flags 0, sequence 7, port 0, four bytes
    private let message: [UInt8] = [
        0x14, 0, 0, 0, 0x14, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
        1, 2, 3, 4,
    ]

    @Test func readsOneAfterTheOther() {
        let found = replies(message + message)
        #expect(found.count == 2)
        #expect(found[1] == (0x14, 7, 4))
    }

    @Test func stopsAtATornMessage() {
        #expect(replies(message + message.prefix(19)).count == 1)
        #expect(replies(Array(message.prefix(15))).isEmpty)
        var tooLong = message
        tooLong[0] = 0x40
        #expect(replies(tooLong).isEmpty)
        var tooShort = message
        tooShort[0] = 0x08
        #expect(replies(tooShort).isEmpty)
    }

    @Test func readsTheKernelsWords() {
        // NLMSG_ERROR, flags CAPPED | ACK_TLVS, -EINVAL, the request's header, then attribute 1: "no"
        let bytes: [UInt8] = [
            0x2c, 0, 0, 0, 2, 0, 0, 3, 9, 0, 0, 0, 0, 0, 0, 0,
            0xea, 0xff, 0xff, 0xff,
            0x10, 0, 0, 0, 0x18, 0, 5, 0, 9, 0, 0, 0, 0, 0, 0, 0,
            7, 0, 1, 0, 0x6e, 0x6f, 0, 0,
        ]
        bytes.withUnsafeBytes { buffer in
            Reply.forEach(in: buffer) {
                #expect($0.isError)
                #expect($0.outcome.errno == 22)
                #expect($0.outcome.text == "no")
                return true
            }
        }
    }

    @Test func attributesAreBounded() {
        // type 5: one byte; type 6 claims more than there is
        let bytes: [UInt8] = [5, 0, 5, 0, 0xaa, 0, 0, 0, 0x20, 0, 6, 0, 1, 2]
        bytes.withUnsafeBytes { buffer in
            let attributes = Attributes(bytes: buffer)
            #expect(attributes.value(5) == UInt8(0xaa))
            #expect(attributes.value(5, as: UInt32.self) == nil)
            #expect(attributes[6] == nil)
            #expect(attributes[7] == nil)
        }
    }
}
