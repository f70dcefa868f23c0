// Many HTTP requests on one thread: libcurl's multi interface, to be waited on together with other descriptors.

import CCurl
import CCurlShims
package import Linux

/// Runs HTTP requests, many at a time, on the thread that calls it.
///
/// Concurrency: not Sendable; handlers run on the calling thread, inside `wait` and `perform`, and may start and cancel
/// requests. libcurl resolves names on threads of its own and never calls back from them.
package final class HTTPClient {
    /// Names a request under way.
    package typealias Token = UInt64

    private static let globalCode: CURLcode = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    private let multi: UnsafeMutableRawPointer
    private var exchanges: [Token: Exchange] = [:]
    private var nextToken: Token = 1
    /// libcurl refuses to have requests added or removed from inside its own callbacks: both wait here until it is left.
    private var inCallbacks = false
    private var toAdd: [Exchange] = []
    private var toRemove: [Exchange] = []

    /// A client without requests. Connections are kept and used again while it lives.
    /// - Parameter connections: the most connections open at a time; further requests wait their turn.
    package init(connections: Int = 128) {
        precondition(Self.globalCode == CURLE_OK, "libcurl cannot start")
        guard let multi = curl_multi_init() else { fatalError("libcurl has no memory for a transfer") }
        self.multi = multi
        _ = cc_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections)
        _ = cc_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connections)
    }

    deinit {
        for exchange in exchanges.values { curl_multi_remove_handle(multi, exchange.handle) }
        exchanges = [:]
        curl_multi_cleanup(multi)
    }

    /// The file of authorities libcurl was built to trust; nil where it knows only a directory, or none. A client reads a
    /// file named in `HTTPRequest.authorities` once for all its requests.
    package static let systemAuthorities: String? = {
        _ = globalCode
        guard let handle = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(handle) }
        var path: UnsafePointer<CChar>?
        _ = cc_get_text(handle, CURLINFO_CAINFO, &path)
        return path.map { String(cString: $0) }.flatMap { Surroundings.isReadable($0) ? $0 : nil }
    }()

    /// True while no request is under way.
    package var isIdle: Bool { exchanges.isEmpty }

    /// Starts a request; it goes on in `wait`.
    /// - Parameters:
    ///   - onBody: takes each part of the body as it arrives, after decompression, and returns false to give up; nil
    ///     collects the body.
    ///   - onDone: called once, unless the request is cancelled.
    @discardableResult
    package func start(
        _ request: HTTPRequest, onBody: (([UInt8]) -> Bool)? = nil,
        onDone: @escaping (Result<HTTPResponse, TransferError>) -> Void
    ) -> Token {
        let token = nextToken
        nextToken += 1
        guard let exchange = Exchange(id: token, request: request, onBody: onBody, onDone: onDone) else {
            fatalError("libcurl has no memory for a transfer")
        }
        exchanges[token] = exchange
        if inCallbacks { toAdd.append(exchange) } else { curl_multi_add_handle(multi, exchange.handle) }
        return token
    }

    /// Ends a request without calling its handler.
    package func cancel(_ token: Token) {
        guard let exchange = exchanges.removeValue(forKey: token) else { return }
        if inCallbacks { toRemove.append(exchange) } else { curl_multi_remove_handle(multi, exchange.handle) }
    }

    /// Waits until a transfer moves, another descriptor is ready or the time is over, and moves the transfers on. Where one
    /// ends at once, nothing is waited for. Corresponds to curl_multi_poll(3).
    /// - Parameters:
    ///   - milliseconds: at most so long.
    ///   - others: further descriptors to wait for.
    /// - Returns: what each of the other descriptors is ready for, in order.
    @discardableResult
    package func wait(milliseconds: Int, also others: [(descriptor: Int32, interest: Readiness)] = []) -> [Readiness] {
        let hasNews = move()
        var extra = others.map { other in
            var wanted: Int32 = 0
            if other.interest.contains(.readable) { wanted |= CURL_WAIT_POLLIN }
            if other.interest.contains(.writable) { wanted |= CURL_WAIT_POLLOUT }
            return curl_waitfd(fd: other.descriptor, events: Int16(wanted), revents: 0)
        }
        var ready: Int32 = 0
        let longest = hasNews ? 0 : Int32(clamping: milliseconds)
        curl_multi_poll(multi, &extra, UInt32(extra.count), longest, &ready)
        move()
        return extra.map { waited in
            var readiness: Readiness = []
            // libcurl hands poll(2)'s POLLERR and POLLHUP through as readable.
            if Int32(waited.revents) & CURL_WAIT_POLLIN != 0 { readiness.insert(.readable) }
            if Int32(waited.revents) & CURL_WAIT_POLLOUT != 0 { readiness.insert(.writable) }
            return readiness
        }
    }

    /// Runs requests to their ends, so many at a time, in order of their start.
    /// - Parameters:
    ///   - goesOn: asked at least every half second; false cancels what is left.
    ///   - onDone: gets each request's position and result as it ends.
    package func perform(
        _ requests: [HTTPRequest], concurrency: Int, while goesOn: () -> Bool = { true },
        onDone: (_ position: Int, _ result: Result<HTTPResponse, TransferError>) -> Void
    ) {
        withoutActuallyEscaping(onDone) { onDone in
            var running: [Token: Int] = [:]
            var next = 0
            var ended: [Token] = []
            repeat {
                while next < requests.count, running.count < max(1, concurrency) {
                    let position = next
                    next += 1
                    var token: Token = 0
                    token = start(requests[position]) { result in
                        ended.append(token)
                        onDone(position, result)
                    }
                    running[token] = position
                }
                wait(milliseconds: 500)
                for token in ended { running[token] = nil }
                ended = []
                if !goesOn() { break }
            } while !running.isEmpty || next < requests.count
            for token in running.keys { cancel(token) }
        }
    }

    /// Runs one request to its end.
    package func perform(_ request: HTTPRequest) throws(TransferError) -> HTTPResponse {
        var found: Result<HTTPResponse, TransferError>?
        start(request) { found = $0 }
        while found == nil { wait(milliseconds: 1000) }
        guard let found else { throw TransferError(.cancelled, .other, server: "", detail: "given up") }
        return try found.get()
    }

    private func moveTransfers() {
        var running: Int32 = 0
        inCallbacks = true
        curl_multi_perform(multi, &running)
        inCallbacks = false
        for exchange in toRemove { curl_multi_remove_handle(multi, exchange.handle) }
        for exchange in toAdd where exchanges[exchange.id] != nil { curl_multi_add_handle(multi, exchange.handle) }
        toRemove = []
        toAdd = []
    }

    /// Moves the transfers on as far as they go without waiting.
    /// - Returns: whether one has ended.
    @discardableResult
    private func move() -> Bool {
        var hasEnded = false
        var again: Bool
        repeat {
            again = false
            moveTransfers()
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
                let code = message.pointee.data.result
                var context: UnsafeMutableRawPointer?
                _ = cc_get_pointer(handle, CURLINFO_PRIVATE, &context)
                guard let context else { continue }
                let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                curl_multi_remove_handle(multi, handle)
                guard exchanges[exchange.id] != nil else { continue }
                if let result = exchange.finish(code) {
                    exchanges[exchange.id] = nil
                    exchange.onDone(result)
                    hasEnded = true
                } else {
                    curl_multi_add_handle(multi, handle)
                }
                again = true
            }
        } while again
        return hasEnded
    }
}
