// Cutting a stream of bytes into lines, with a limit, so that a hostile or broken peer costs a bounded amount of memory.

package import JSON

/// Why a line cannot be taken. The connection cannot be trusted to be in step afterwards and is closed.
package enum FrameError: Error, Hashable, Sendable {
    /// A line is longer than `CommandProtocol.frameLimit`.
    case tooLong
    /// A line is not a JSON object in UTF-8. Where and why, without any of the text.
    case notJSON(String)

    /// The error as it is told to the peer.
    package var failure: Failure {
        switch self {
        case .tooLong:
            Failure(
                .tooLarge, "The request is longer than \(CommandProtocol.frameLimit) bytes.",
                remedy: "Send one JSON object a line.")
        case .notJSON(let problem):
            Failure(
                .badRequest, "The request is not a JSON object: \(problem).", remedy: "Send one JSON object a line.")
        }
    }
}

/// Collects bytes and gives out whole lines.
package struct FrameReader {
    private var buffer: [UInt8] = []
    /// Bytes of the buffer known to hold no line feed.
    private var scanned = 0
    private let limit: Int

    /// A reader that refuses lines longer than `limit` bytes.
    package init(limit: Int = CommandProtocol.frameLimit) { self.limit = limit }

    /// The bytes waiting for the end of their line.
    package var pending: Int { buffer.count }

    /// Adds bytes and returns the lines they complete, without line feeds; empty lines are left out.
    /// - Throws: `FrameError.tooLong`; lines completed before the long one are lost, as the connection is.
    package mutating func append(_ bytes: [UInt8]) throws(FrameError) -> [[UInt8]] {
        buffer.append(contentsOf: bytes)
        var lines: [[UInt8]] = []
        var start = 0
        while let end = buffer[max(scanned, start)...].firstIndex(of: 0x0A) {
            guard end - start <= limit else { throw .tooLong }
            let stop = end > start && buffer[end - 1] == 0x0D ? end - 1 : end
            if stop > start { lines.append(Array(buffer[start..<stop])) }
            start = end + 1
            scanned = start
        }
        if start > 0 { buffer.removeSubrange(..<start) }
        scanned = buffer.count
        guard buffer.count <= limit else { throw .tooLong }
        return lines
    }
}

/// One line as bytes and back.
package enum Frame {
    /// The deepest nesting a request may have.
    private static let depth = 8

    /// The object as one line, with its line feed.
    package static func encode(_ object: JSON) -> [UInt8] { object.encoded() + [0x0A] }

    /// The object in a line.
    /// - Throws: `FrameError.notJSON`.
    package static func decode(_ line: [UInt8], maximumDepth: Int = depth) throws(FrameError) -> JSON {
        let value: JSON
        do throws(JSONError) { value = try JSON.parse(line, maximumDepth: maximumDepth) } catch {
            throw .notJSON(error.problem)
        }
        guard value.object != nil else { throw .notJSON("it is no object") }
        return value
    }
}
