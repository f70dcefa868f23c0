// A control API on loopback that answers from a table, for tests of the client.

import Glibc
import Linux
import Synchronization
import TestSockets

/// An HTTP server on a thread of its own. It answers one request a connection, in the order they come.
///
/// Concurrency: the table is fixed at start; the requests seen are behind a mutex.
final class FakeAPI: Sendable {
    var port: Int { Int(listener.port) }
    private let listener: LoopbackListener
    private let seen = Mutex<[String]>([])

    /// The requests so far: `METHOD PATH BODY`, with ` (no token)` where the bearer token was missing.
    var requests: [String] { seen.withLock { $0 } }

    /// - Parameter answers: `METHOD PATH` to status and body; an unknown one gets 404.
    init(_ answers: [String: (status: Int, body: String)], secret: String = "secret") throws {
        listener = try LoopbackListener()
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Box(self, answers, secret)).toOpaque()
        pthread_create(
            &thread, nil,
            { raw in
                guard let raw else { return nil }
                Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().serve()
                return nil
            }, context)
        pthread_detach(thread)
    }

    /// Ends the server.
    func stop() { listener.end() }

    private final class Box {
        let server: FakeAPI
        let answers: [String: (status: Int, body: String)]
        let secret: String
        init(_ server: FakeAPI, _ answers: [String: (status: Int, body: String)], _ secret: String) {
            self.server = server
            self.answers = answers
            self.secret = secret
        }

        func serve() {
            while let peer = try? nextConnection(server.listener.number) { serve(peer) }
        }

        private func serve(_ peer: borrowing Descriptor) {
            var text = ""
            while !isWhole(text) {
                guard case .bytes(let bytes)? = try? readSome(peer.number) else { return }
                text += String(decoding: bytes, as: UTF8.self)
            }
            let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            let words = lines[0].split(separator: " ")
            let key = "\(words[0]) \(words[1])"
            let hasToken = lines.contains { $0 == "Authorization: Bearer \(secret)" }
            let body = lines.last.map(String.init) ?? ""
            server.seen.withLock { $0.append(key + (body.isEmpty ? "" : " " + body) + (hasToken ? "" : " (no token)")) }
            let (status, json) = answers[key] ?? (404, #"{"message":"Resource not found"}"#)
            reply(
                to: peer,
                "HTTP/1.1 \(status) X\r\nContent-Length: \(json.utf8.count)\r\nConnection: close\r\n\r\n\(json)")
        }

        private func isWhole(_ text: String) -> Bool {
            guard let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) else { return false }
            let head = text[..<end.lowerBound].lowercased()
            guard let line = head.split(separator: "\r\n").first(where: { $0.hasPrefix("content-length: ") }),
                let length = Int(line.dropFirst("content-length: ".count))
            else { return true }
            return text.utf8[end.upperBound...].count >= length
        }
    }
}

extension Collection where Element == UInt8 {
    /// The first place where another sequence occurs.
    fileprivate func firstRange(of other: some Collection<UInt8>) -> Range<Index>? {
        var start = startIndex
        while start != endIndex {
            if self[start...].starts(with: other) {
                return start..<(index(start, offsetBy: other.count))
            }
            formIndex(after: &start)
        }
        return nil
    }
}
