// The target of the command socket: bytes in pieces become lines, lines become requests and replies.

import Commands
import JSON

extension FuzzTarget {
    /// The first byte says how the rest is cut in pieces, the second how long a line may be.
    static func frames(_ input: [UInt8]) throws(Violation) {
        guard input.count > 2 else { return }
        let piece = 1 + Int(input[0])
        let limit = input[1] == 0 ? CommandProtocol.frameLimit : Int(input[1])
        let bytes = Array(input[2...])
        var reader = FrameReader(limit: limit)
        var lines: [[UInt8]] = []
        var isBroken = false
        for start in stride(from: 0, to: bytes.count, by: piece) {
            do throws(FrameError) {
                lines += try reader.append(Array(bytes[start..<min(start + piece, bytes.count)]))
            } catch {
                try demand(error == .tooLong, "a reader of lines judges their content")
                isBroken = true
                break
            }
            try demand(reader.pending <= limit, "\(reader.pending) bytes wait where \(limit) are allowed")
        }
        for line in lines {
            try demand(!line.isEmpty && line.count <= limit, "a line of \(line.count) bytes")
            try demand(!line.contains(0x0A), "a line feed within a line")
        }
        var whole = FrameReader(limit: limit)
        if let all = try? whole.append(bytes) {
            try demand(!isBroken && all == lines, "the pieces decide what the lines are")
        } else {
            try demand(isBroken || reader.pending <= limit, "a line too long passes in pieces")
        }
        for line in lines { try message(line) }
    }

    private static func message(_ line: [UInt8]) throws(Violation) {
        let object: JSON
        do throws(FrameError) { object = try Frame.decode(line) } catch {
            let told = Reply(id: nil, error.failure)
            try demand(Frame.encode(told.json).count < 1024, "an error as long as a letter")
            return
        }
        let encoded = Frame.encode(object)
        try demand(encoded.last == 0x0A && encoded.dropLast().allSatisfy { $0 != 0x0A }, "a frame is not one line")
        var request: Request?
        do throws(Failure) { request = try Request(json: object) } catch {
            let reply = Reply(id: Request.id(of: object), error)
            try demand(Frame.encode(reply.json).count < 1024, "an error as long as a letter")
        }
        if let request {
            try demand((try? Request(json: request.json)) == request, "a request written and read again is another")
        }
        if let answer = ServerMessage(json: object) {
            let json =
                switch answer {
                case .reply(let reply): reply.json
                case .state(let event): event.json
                }
            try demand(ServerMessage(json: json) == answer, "an answer written and read again is another")
        }
        if let hello = HelloReport(json: object) {
            try demand(HelloReport(json: hello.json) == hello, "a greeting written and read again is another")
        }
    }
}
