// A worker and its engine's control API that keep what they are told, with a way for others to act in between.

import Commands
import Glibc
import JSON
import Linux
import Synchronization
import TestSockets

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
    private let worker: Descriptor
    private let api: LoopbackListener
    /// Readable when it is to end.
    private let stopper: Pipe

    /// - Parameter between: called before a change is carried out, with its words.
    init(_ contents: Contents = Contents(), between: @escaping @Sendable (String, FakeTunnel) -> Void = { _, _ in })
        throws
    {
        self.contents = Mutex(contents)
        self.between = between
        directory = try TemporaryDirectory(in: "/tmp")
        worker = try UnixSocket.listen(directory.path + "/command.sock", mode: 0o600)
        api = try LoopbackListener()
        stopper = try Pipe()
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
    func stop() { try? writeAll(stopper.writer.number, [1]) }

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
            if $0.state == .connected { report.api = APIReport(address: "127.0.0.1:\(api.port)", secret: "s") }
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
            let listeners = [tunnel.stopper.reader.number, tunnel.worker.number, tunnel.api.number]
            var peers: [Peer] = []
            while true {
                let waited = listeners + peers.map { $0.socket.number }
                let ready = wait(for: waited.map { ($0, .readable) }, milliseconds: nil)
                if !ready[0].isEmpty { break }
                let heard = Set(zip(peers, ready.dropFirst(3)).filter { !$1.isEmpty }.map { $0.0.socket.number })
                peers = peers.filter { !heard.contains($0.socket.number) || serveWorker($0.socket) }
                if !ready[1].isEmpty, let peer = try? nextConnection(tunnel.worker.number) { peers.append(Peer(peer)) }
                if !ready[2].isEmpty, let peer = try? nextConnection(tunnel.api.number) { serveAPI(peer) }
            }
        }

        /// One connection to the worker's socket.
        private final class Peer {
            let socket: Descriptor
            init(_ socket: consuming Descriptor) { self.socket = socket }
        }

        /// Returns false at the end.
        private func serveWorker(_ peer: borrowing Descriptor) -> Bool {
            guard let bytes = receive(peer) else { return false }
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                guard let request = try? Request(json: JSON.parse(Array(line))) else { return false }
                reply(to: peer, Frame.encode(tunnel.answer(request).json))
            }
            return true
        }

        private func serveAPI(_ peer: borrowing Descriptor) {
            guard let (line, body) = request(peer) else { return }
            let (status, json) = tunnel.answer(line, body)
            let text = json.isNull ? "" : json.text()
            let head = "HTTP/1.1 \(status) X\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n"
            reply(to: peer, head + text)
        }

        /// Method and path, and the body.
        private func request(_ peer: borrowing Descriptor) -> (line: String, body: String)? {
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

        private func receive(_ peer: borrowing Descriptor) -> [UInt8]? {
            guard case .bytes(let bytes)? = try? readSome(peer.number) else { return nil }
            return bytes
        }
    }
}
