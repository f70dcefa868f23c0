// A control API on loopback that answers from a table, for tests of the client.

import Glibc
import Synchronization

/// An HTTP server on a thread of its own. It answers one request a connection, in the order they come.
///
/// Concurrency: the table is fixed at start; the requests seen are behind a mutex.
final class FakeAPI: Sendable {
    let port: Int
    private let listener: Int32
    private let seen = Mutex<[String]>([])

    /// The requests so far: `METHOD PATH BODY`, with ` (no token)` where the bearer token was missing.
    var requests: [String] { seen.withLock { $0 } }

    /// - Parameter answers: `METHOD PATH` to status and body; an unknown one gets 404.
    init(_ answers: [String: (status: Int, body: String)], secret: String = "secret") {
        (listener, port) = Self.listen()
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

    private static func listen() -> (listener: Int32, port: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                _ = bind(listener, raw, length)
                _ = getsockname(listener, raw, &length)
            }
        }
        Glibc.listen(listener, 64)
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Ends the server.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

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
            while case let peer = accept(server.listener, nil, nil), peer >= 0 {
                answer(peer)
                close(peer)
            }
            close(server.listener)
        }

        private func answer(_ peer: Int32) {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !isWhole(text) {
                let count = read(peer, &buffer, buffer.count)
                if count <= 0 { return }
                text += String(decoding: buffer.prefix(count), as: UTF8.self)
            }
            let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            let words = lines[0].split(separator: " ")
            let key = "\(words[0]) \(words[1])"
            let hasToken = lines.contains { $0 == "Authorization: Bearer \(secret)" }
            let body = lines.last.map(String.init) ?? ""
            server.seen.withLock { $0.append(key + (body.isEmpty ? "" : " " + body) + (hasToken ? "" : " (no token)")) }
            let (status, answer) = answers[key] ?? (404, #"{"message":"Resource not found"}"#)
            let reply =
                "HTTP/1.1 \(status) X\r\nContent-Length: \(answer.utf8.count)\r\nConnection: close\r\n\r\n\(answer)"
            _ = reply.withCString { write(peer, $0, strlen($0)) }
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
