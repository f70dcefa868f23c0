// The engine's control API (Clash API) on loopback: selection, mode, connections, and the figures of one moment.
// Source: <https://sing-box.sagernet.org/configuration/experimental/clash-api/>; paths and answers as sing-box 1.14.2 gives them.

import JSON
package import Transfer

/// The control API of one running engine.
///
/// Concurrency: as `HTTPClient`, everything on the calling thread. The methods that return a value wait for it; those
/// beginning with `start` go on while the caller waits in `HTTPClient.wait`.
package struct EngineAPI {
    private let client: HTTPClient
    private let base: String
    private let secret: String

    /// - Parameters:
    ///   - address: `127.0.0.1:PORT`.
    ///   - secret: the bearer token; never logged.
    package init(client: HTTPClient, address: String, secret: String) {
        self.client = client
        base = "http://\(address)"
        self.secret = secret
    }

    /// Milliseconds a plain question may take: the engine is on this machine.
    private static let patience = 3000

    func request(
        _ method: HTTPRequest.Method, _ path: String, body: JSON? = nil, milliseconds: Int? = patience
    ) -> HTTPRequest {
        var request = HTTPRequest(method, base + path)
        request.headers = [("Authorization", "Bearer \(secret)")]
        if let body {
            request.body = body.encoded()
            request.headers.append(("Content-Type", "application/json"))
        }
        request.connectMilliseconds = Self.patience
        request.totalMilliseconds = milliseconds
        return request
    }

    /// Asks and waits.
    /// - Throws: `EngineFailure.unreachable` or `.refused`.
    @discardableResult
    func call(_ method: HTTPRequest.Method, _ path: String, body: JSON? = nil) throws(EngineFailure) -> JSON {
        let answer: Result<HTTPResponse, TransferError>
        do throws(TransferError) { answer = .success(try client.perform(request(method, path, body: body))) } catch {
            answer = .failure(error)
        }
        return try Self.value(of: answer)
    }

    /// Asks several questions at once and waits for all.
    func ask(_ paths: [String]) throws(EngineFailure) -> [JSON] {
        var answers: [Result<HTTPResponse, TransferError>?] = paths.map { _ in nil }
        client.perform(paths.map { request(.get, $0) }, concurrency: paths.count) { answers[$0] = $1 }
        var values: [JSON] = []
        for answer in answers {
            guard let answer else { throw .unreachable("") }
            values.append(try Self.value(of: answer))
        }
        return values
    }

    static func value(of answer: Result<HTTPResponse, TransferError>) throws(EngineFailure) -> JSON {
        switch answer {
        case .failure(let error): throw .unreachable(error.detail)
        case .success(let response):
            let value = response.body.isEmpty ? JSON.null : (try? JSON.parse(response.body)) ?? .null
            guard (200..<300).contains(response.status) else {
                throw .refused(status: response.status, message: value["message"].string ?? "")
            }
            return value
        }
    }

    // MARK: One moment

    /// The engine's release, such as `1.14.2`.
    package func version() throws(EngineFailure) -> String { Self.version(in: try call(.get, "/version")) }

    static func version(in value: JSON) -> String {
        let text = value["version"].string ?? ""
        return text.hasPrefix("sing-box ") ? String(text.dropFirst("sing-box ".count)) : text
    }

    /// A group: what it holds and what it uses now.
    package func group(_ name: String) throws(EngineFailure) -> EngineGroup {
        EngineGroup(try call(.get, "/proxies/\(Self.encoded(name))"))
    }

    /// The mode, as the engine writes it.
    package func mode() throws(EngineFailure) -> String { try call(.get, "/configs")["mode"].string ?? "" }

    /// Everything `status` shows, asked at once. Takes a few milliseconds.
    /// - Parameters:
    ///   - selector: the selector's tag.
    ///   - automatic: the urltest group's tag.
    package func snapshot(selector: String, automatic: String) throws(EngineFailure) -> EngineSnapshot {
        let paths = [
            "/version", "/configs", "/connections", "/proxies/\(Self.encoded(selector))",
            "/proxies/\(Self.encoded(automatic))",
        ]
        let answers = try ask(paths)
        return EngineSnapshot(
            version: Self.version(in: answers[0]), mode: answers[1]["mode"].string ?? "",
            traffic: ConnectionList(answers[2]), selected: EngineGroup(answers[3]).now,
            automatic: EngineGroup(answers[4]).now)
    }

    /// The live connections with the totals since the engine's start.
    package func connections() throws(EngineFailure) -> ConnectionList {
        ConnectionList(try call(.get, "/connections"))
    }

    // MARK: Changes

    /// Makes a selector use one of its members. Connections that are open stay on the line they use.
    /// - Throws: `EngineFailure.refused` when the selector has no such member.
    package func select(_ member: String, in selector: String) throws(EngineFailure) {
        try call(.put, "/proxies/\(Self.encoded(selector))", body: ["name": .string(member)])
    }

    /// Makes a selector use one of its members and switches the mode, and waits until both are in force. The engine answers
    /// a change 10 ms later, once its cache file's batch is written; that is not waited for.
    /// - Throws: `EngineFailure.refused` when the selector has no such member.
    package func putInForce(_ member: String, in selector: String, mode: String) throws(EngineFailure) {
        let group = "/proxies/\(Self.encoded(selector))"
        var failure: EngineFailure?
        var waiting = 2
        let done = { (answer: Result<HTTPResponse, TransferError>) in
            waiting -= 1
            do throws(EngineFailure) { _ = try Self.value(of: answer) } catch { failure = error }
        }
        client.start(request(.put, group, body: ["name": .string(member)]), onDone: done)
        client.start(request(.patch, "/configs", body: ["mode": .string(mode)]), onDone: done)
        while true {
            let isStored = waiting == 0
            let found = try ask([group, "/configs"])
            if let failure { throw failure }
            if EngineGroup(found[0]).now == member, found[1]["mode"].string == mode { return }
            guard !isStored else { throw .unreachable("the engine took a change and does not follow it") }
        }
    }

    /// Switches the mode: `Rule` or `Global`.
    package func setMode(_ mode: String) throws(EngineFailure) {
        try call(.patch, "/configs", body: ["mode": .string(mode)])
    }

    /// Closes one connection.
    package func close(connection id: String) throws(EngineFailure) {
        try call(.delete, "/connections/\(Self.encoded(id))")
    }

    /// Closes every connection.
    package func closeAllConnections() throws(EngineFailure) { try call(.delete, "/connections") }

    // MARK: Ahead of time

    /// Has the engine ask for a name's addresses and keep the answer; the answer itself is not waited for.
    package func startLookingUp(_ name: String) {
        client.start(request(.get, "/dns/query?name=\(Self.encoded(name))&type=A")) { _ in }
        client.wait(milliseconds: 0)
    }

    // MARK: Streams

    /// The rates, one line a second, until the token is cancelled or the engine ends.
    package func startTraffic(
        onRate: @escaping (TrafficRate) -> Void, onEnd: @escaping () -> Void
    ) -> HTTPClient.Token {
        startLines("/traffic", onLine: { onRate(TrafficRate($0)) }, onEnd: onEnd)
    }

    private func startLines(
        _ path: String, onLine: @escaping (JSON) -> Void, onEnd: @escaping () -> Void
    ) -> HTTPClient.Token {
        var lines = LineBuffer()
        return client.start(request(.get, path, milliseconds: nil)) { bytes in
            for line in lines.add(bytes) { if let value = try? JSON.parse(line) { onLine(value) } }
            return true
        } onDone: { _ in
            onEnd()
        }
    }

    // MARK: Latency

    /// Measures a line: one HTTPS request through it, by the engine's own test.
    /// - Parameters:
    ///   - line: its tag.
    ///   - url: https only; the engine silently takes another one for http.
    ///   - milliseconds: the engine's limit, at most 30 000.
    @discardableResult
    package func startDelay(
        of line: String, url: String, milliseconds: Int, onDone: @escaping (DelayOutcome) -> Void
    ) -> HTTPClient.Token {
        let path = "/proxies/\(Self.encoded(line))/delay?timeout=\(milliseconds)&url=\(Self.encoded(url))"
        return client.start(request(.get, path, milliseconds: milliseconds + 2000)) { answer in
            onDone(DelayOutcome(answer))
        }
    }

    /// Percent-encodes all but the unreserved characters of RFC 3986.
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
