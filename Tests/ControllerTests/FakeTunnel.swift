// A worker and its engine's control API that keep what they are told, with a way for others to act in between.

import Commands
import Glibc
import JSON
import Linux
import Synchronization

/// A tunnel on a thread of its own. Everything it is asked comes one after the other.
///
/// Concurrency: what it holds is behind a mutex.
final class FakeTunnel: Sendable {
    /// What a worker and an engine know.
    struct Contents: Sendable {
        var state = TunnelState.connected
        var mode = "Rule"
        var selected = "auto"
        /// Domestic traffic goes past the engine.
        var isFast = false
        /// The worker cannot lead domestic traffic into the engine.
        var isStuck = false
        /// What was asked for and changes something, in words.
        var calls: [String] = []
    }

    let contents: Mutex<Contents>
    /// The worker's socket.
    var socket: String { directory.path + "/command.sock" }
    private let directory: TemporaryDirectory
    private let between: @Sendable (String, FakeTunnel) -> Void
    private let listeners: (worker: Int32, api: Int32, stop: Int32, port: Int)
    private let stopper: Int32

    /// - Parameter between: called before a change is carried out, with its words.
    init(_ contents: Contents = Contents(), between: @escaping @Sendable (String, FakeTunnel) -> Void = { _, _ in })
        throws
    {
        self.contents = Mutex(contents)
        self.between = between
        directory = try TemporaryDirectory()
        let worker = try UnixSocket.listen(directory.path + "/command.sock", mode: 0o600)
        try worker.setNonBlocking(false)
        let (api, port) = Self.listen()
        var ends: [Int32] = [-1, -1]
        try checkErrno("making a pipe") { pipe(&ends) }
        stopper = ends[1]
        listeners = (worker.release(), api, ends[0], port)
        var thread = pthread_t()
        let server = Unmanaged.passRetained(Server(self)).toOpaque()
        pthread_create(
            &thread, nil,
            { raw in
                if let raw { Unmanaged<Server>.fromOpaque(raw).takeRetainedValue().serve() }
                return nil
            }, server)
        pthread_detach(thread)
    }

    /// Ends it; it is of no use afterwards.
    func stop() { close(stopper) }

    private static func listen() -> (listener: Int32, port: Int) {
        let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
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

    private func change(_ words: String, _ body: (inout Contents) -> Void) {
        between(words, self)
        contents.withLock {
            $0.calls.append(words)
            body(&$0)
        }
    }

    // MARK: The worker

    private func answer(_ request: Request) -> Reply {
        switch request.call {
        case .connect: change("connect") { $0.state = .connected }
        case .domestic(let isOn, let soon):
            change("domestic \(isOn ? "on" : "off")\(soon ? " soon" : "")") { if !$0.isStuck { $0.isFast = isOn } }
            if contents.withLock({ $0.isStuck }) {
                return Reply(id: request.id, Commands.Failure(.hostNetwork, "No.", remedy: nil))
            }
        case .status: break
        default: return Reply(id: request.id, ok: [:])
        }
        return Reply(id: request.id, ok: status.json)
    }

    private var status: StatusReport {
        contents.withLock {
            var report = StatusReport(state: $0.state)
            report.mine = true
            report.since = 1
            report.domesticFastPath = $0.isFast
            if $0.state == .connected { report.api = APIReport(address: "127.0.0.1:\(listeners.port)", secret: "s") }
            return report
        }
    }

    // MARK: The engine

    private func answer(_ line: String, _ body: String) -> (status: Int, body: JSON) {
        let sent = (try? JSON.parse(body)) ?? .null
        switch line {
        case "GET /configs": return (200, ["mode": .string(contents.withLock { $0.mode })])
        case "GET /proxies/proxy": return (200, ["now": .string(contents.withLock { $0.selected })])
        case "PATCH /configs":
            let mode = sent["mode"].string ?? ""
            change(mode) { $0.mode = mode }
        case "PUT /proxies/proxy":
            let name = sent["name"].string ?? ""
            change("select \(name)") { $0.selected = name }
        default: return (200, [:])
        }
        return (204, .null)
    }

    private final class Server {
        let tunnel: FakeTunnel
        init(_ tunnel: FakeTunnel) { self.tunnel = tunnel }

        func serve() {
            let (worker, api, stop, _) = tunnel.listeners
            var peers: [Int32] = []
            while true {
                let ready = wait(for: ([stop, worker, api] + peers).map { ($0, .readable) }, milliseconds: nil)
                if !ready[0].isEmpty { break }
                for (peer, readiness) in zip(peers, ready.dropFirst(3)) where !readiness.isEmpty && !serveWorker(peer) {
                    close(peer)
                    peers.removeAll { $0 == peer }
                }
                if !ready[1].isEmpty { peers.append(accept(worker, nil, nil)) }
                if !ready[2].isEmpty { serveAPI(accept(api, nil, nil)) }
            }
            for descriptor in peers + [worker, api, stop] { close(descriptor) }
        }

        /// Returns false at the end.
        private func serveWorker(_ peer: Int32) -> Bool {
            guard let bytes = receive(peer) else { return false }
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                guard let request = try? Request(json: JSON.parse(Array(line))) else { return false }
                try? writeAll(peer, Frame.encode(tunnel.answer(request).json))
            }
            return true
        }

        private func serveAPI(_ peer: Int32) {
            defer { close(peer) }
            guard let (line, body) = request(peer) else { return }
            let (status, answer) = tunnel.answer(line, body)
            let text = answer.isNull ? "" : answer.text()
            let head = "HTTP/1.1 \(status) X\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n"
            try? writeAll(peer, Array((head + text).utf8))
        }

        /// Method and path, and the body.
        private func request(_ peer: Int32) -> (line: String, body: String)? {
            var text = ""
            while let bytes = receive(peer) {
                text += String(decoding: bytes, as: UTF8.self)
                guard let end = text.firstRange(of: "\r\n\r\n") else { continue }
                let lines = text[..<end.lowerBound].split(separator: "\r\n")
                let length = lines.first { $0.lowercased().hasPrefix("content-length: ") }?.dropFirst(16)
                let body = text[end.upperBound...]
                guard body.utf8.count >= length.flatMap({ Int($0) }) ?? 0 else { continue }
                return (lines[0].split(separator: " ").prefix(2).joined(separator: " "), String(body))
            }
            return nil
        }

        private func receive(_ peer: Int32) -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(peer, &buffer, buffer.count)
            return count > 0 ? Array(buffer.prefix(count)) : nil
        }
    }
}
