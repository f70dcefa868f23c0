// Undoing gzip and zlib compression that no header announced, within a limit.

import CZlib

/// Bodies some providers send compressed without saying so.
package enum Inflate {
    /// What undoing the compression came to.
    package enum Outcome: Equatable, Sendable {
        /// The bytes are not compressed.
        case plain
        case inflated([UInt8])
        /// More than the limit comes out: a bomb.
        case tooLarge
        /// It begins like compressed data and does not go on like it.
        case damaged
    }

    /// True when bytes begin like gzip (RFC 1952) or zlib (RFC 1950) data.
    package static func looksCompressed(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 2 else { return false }
        if bytes[0] == 0x1f, bytes[1] == 0x8b { return true }
        // `x^` is text someone could write; the other levels are not printable.
        return bytes[0] == 0x78 && [0x01, 0x9c, 0xda].contains(bytes[1])
    }

    /// Undoes gzip or zlib compression, recognised by its first bytes.
    /// - Parameter limit: bytes that may come out; memory stays within it.
    package static func inflate(_ bytes: [UInt8], limit: Int) -> Outcome {
        guard looksCompressed(bytes) else { return .plain }
        var stream = z_stream()
        // 15 window bits, + 32: zlib and gzip told apart by their header.
        guard
            inflateInit2_(&stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return .damaged }
        defer { inflateEnd(&stream) }
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        return bytes.withUnsafeBufferPointer { input in
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(clamping: input.count)
            while true {
                let (code, produced) = chunk.withUnsafeMutableBufferPointer { room in
                    stream.next_out = room.baseAddress
                    stream.avail_out = UInt32(room.count)
                    let code = CZlib.inflate(&stream, Z_NO_FLUSH)
                    return (code, room.count - Int(stream.avail_out))
                }
                if output.count + produced > limit { return .tooLarge }
                output.append(contentsOf: chunk[..<produced])
                if code == Z_STREAM_END { return .inflated(output) }
                if code != Z_OK || (produced == 0 && stream.avail_in == 0) { return .damaged }
            }
        }
    }
}
