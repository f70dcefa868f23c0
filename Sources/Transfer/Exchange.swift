// One request under way: its libcurl handle, what has arrived, and how it ends.

import CCurl
import CCurlShims
internal import Linux

/// A request under way. The client owns it and is the only caller; libcurl's callbacks reach it through its address.
final class Exchange {
    let id: UInt64
    let request: HTTPRequest
    let handle: UnsafeMutableRawPointer
    let onBody: (([UInt8]) -> Bool)?
    let onDone: (Result<HTTPResponse, TransferError>) -> Void
    private let started = Moment.now
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>
    private var url: String
    private var hops = 0
    private var body: [UInt8] = []
    private var headers: [(name: String, value: String)] = []
    private var headerBytes = 0
    private var overflow = false
    private var stopped = false

    private static let headerLimit = 256 << 10

    init?(
        id: UInt64, request: HTTPRequest, onBody: (([UInt8]) -> Bool)?,
        onDone: @escaping (Result<HTTPResponse, TransferError>) -> Void
    ) {
        guard let handle = curl_easy_init() else { return nil }
        self.id = id
        self.request = request
        self.handle = handle
        self.onBody = onBody
        self.onDone = onDone
        url = request.url
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    private func configure() {
        let this = Unmanaged.passUnretained(self).toOpaque()
        _ = cc_set_long(handle, CURLOPT_NOSIGNAL, 1)
        // A name that is slow to resolve must not outlast the time limit: without this the end waits for the resolver.
        _ = cc_set_long(handle, CURLOPT_QUICK_EXIT, 1)
        _ = cc_set_pointer(handle, CURLOPT_PRIVATE, this)
        _ = cc_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        _ = cc_set_data_callback(handle, CURLOPT_WRITEFUNCTION, receiveBody)
        _ = cc_set_pointer(handle, CURLOPT_WRITEDATA, this)
        _ = cc_set_data_callback(handle, CURLOPT_HEADERFUNCTION, receiveHeader)
        _ = cc_set_pointer(handle, CURLOPT_HEADERDATA, this)
        _ = cc_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        // Redirects are followed by `nextHop()`, which sees each one.
        _ = cc_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        if let body = request.body {
            _ = body.withUnsafeBufferPointer { cc_set_body(handle, $0.baseAddress, curl_off_t($0.count)) }
        }
        _ = cc_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        for header in request.headers { headerList = curl_slist_append(headerList, "\(header.name): \(header.value)") }
        if request.body != nil { headerList = curl_slist_append(headerList, "Expect:") }
        if headerList != nil { _ = cc_set_list(handle, CURLOPT_HTTPHEADER, headerList) }
        if let agent = request.userAgent { _ = cc_set_text(handle, CURLOPT_USERAGENT, agent) }
        if request.compressed { _ = cc_set_text(handle, CURLOPT_ACCEPT_ENCODING, "gzip, deflate, br") }
        if request.cookies { _ = cc_set_text(handle, CURLOPT_COOKIEFILE, "") }
        if let file = request.authorities {
            _ = cc_set_text(handle, CURLOPT_CAINFO, file)
            // With a directory beside the file libcurl reads all authorities anew for every connection, 17 ms each time.
            _ = cc_set_text(handle, CURLOPT_CAPATH, nil)
        }
        switch request.proxy {
        case .none: _ = cc_set_text(handle, CURLOPT_PROXY, "")
        case .environment: break
        case .url(let proxy):
            _ = cc_set_text(handle, CURLOPT_PROXY, proxy)
            // What the environment excepts (no_proxy) it excepts from its own proxy.
            _ = cc_set_text(handle, CURLOPT_NOPROXY, "")
        }
        aim()
    }

    /// Points the handle at the current address with the time that is left.
    private func aim() {
        _ = cc_set_text(handle, CURLOPT_URL, url)
        var connect = request.connectMilliseconds
        if let total = request.totalMilliseconds {
            let left = max(1, total - Moment.now.milliseconds(since: started))
            connect = min(connect, left)
            _ = cc_set_long(handle, CURLOPT_TIMEOUT_MS, left)
        }
        _ = cc_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, connect)
    }

    func take(body bytes: UnsafeRawBufferPointer) -> Bool {
        // What a redirect says beside its headers is of no use to anyone.
        if status / 100 == 3 && request.redirects > 0 { return true }
        if let onBody {
            stopped = !onBody(Array(bytes))
            return !stopped
        }
        guard body.count + bytes.count <= request.bodyLimit else {
            overflow = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    func take(header bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.headerLimit else {
            overflow = true
            return false
        }
        var line = String(decoding: bytes, as: UTF8.self)
        while let last = line.unicodeScalars.last, last == "\r" || last == "\n" { line.unicodeScalars.removeLast() }
        if line.hasPrefix("HTTP/") {
            headers = []
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            headers.append((line[..<colon].lowercased(), String(value)))
        }
        return true
    }

    private var status: Int {
        var status = 0
        _ = cc_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return status
    }

    /// What libcurl's end of this hop means: nil when the handle was aimed at a redirect's target and goes on.
    func finish(_ code: CURLcode) -> Result<HTTPResponse, TransferError>? {
        guard code == CURLE_OK else { return .failure(failure(code)) }
        if request.redirects > 0, let next = redirectTarget() { return follow(next) }
        return .success(
            HTTPResponse(
                status: status, headers: headers, body: body, milliseconds: Moment.now.milliseconds(since: started),
                redirects: hops))
    }

    private func redirectTarget() -> String? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        var target: UnsafePointer<CChar>?
        _ = cc_get_text(handle, CURLINFO_REDIRECT_URL, &target)
        return target.map { String(cString: $0) }
    }

    private func follow(_ next: String) -> Result<HTTPResponse, TransferError>? {
        guard hops < request.redirects else {
            return .failure(error(.tooManyRedirects, .redirect, "more than \(request.redirects) redirects"))
        }
        guard let to = WebAddress(next), ["http", "https"].contains(to.scheme) else {
            return .failure(error(.fetch, .redirect, "redirects to something that is no web address"))
        }
        if WebAddress(url)?.scheme == "https", to.scheme == "http" {
            return .failure(error(.fetch, .redirect, "redirects from https to unprotected http, which is not followed"))
        }
        if let total = request.totalMilliseconds, Moment.now.milliseconds(since: started) >= total {
            return .failure(error(.timeout, .time, "no complete answer within \(total / 1000) s"))
        }
        hops += 1
        url = next
        body = []
        headers = []
        aim()
        return nil
    }

    private var server: String { WebAddress(url)?.shown ?? "" }

    func error(_ code: TransferError.Code, _ cause: TransferError.Cause, _ detail: String) -> TransferError {
        let status = status
        return TransferError(code, cause, server: server, detail: detail, status: status == 0 ? nil : status)
    }

    private func failure(_ code: CURLcode) -> TransferError {
        let words = String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_WRITE_ERROR where overflow:
            return error(.tooLarge, .size, "sends more than \(Self.shown(request.bodyLimit)) or too many headers")
        case CURLE_WRITE_ERROR where stopped: return error(.cancelled, .other, "given up")
        case CURLE_OPERATION_TIMEDOUT:
            // Which of the two limits it was, libcurl does not say.
            if let total = request.totalMilliseconds, Moment.now.milliseconds(since: started) >= total - 10 {
                return error(.timeout, .time, "no complete answer within \(Double(total) / 1000) s")
            }
            return error(.timeout, .time, "no connection within \(Double(request.connectMilliseconds) / 1000) s")
        case CURLE_COULDNT_RESOLVE_HOST: return error(.fetch, .dns, "the name cannot be resolved")
        case CURLE_COULDNT_RESOLVE_PROXY: return error(.fetch, .proxy, "the proxy's name cannot be resolved")
        case CURLE_PROXY: return error(.fetch, .proxy, "the proxy refuses the connection")
        case CURLE_COULDNT_CONNECT:
            var number = 0
            _ = cc_get_long(handle, CURLINFO_OS_ERRNO, &number)
            let reason = Errno(rawValue: Int32(truncatingIfNeeded: number))
            let cause: TransferError.Cause = reason == .connectionRefused ? .refused : .unreachable
            return error(.fetch, cause, number == 0 ? words : reason.description)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            return error(.tls, .certificate, tlsWords ?? words)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_USE_SSL_FAILED:
            return error(.tls, .handshake, tlsWords ?? words)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return error(.fetch, .address, "the address is not a web address")
        case CURLE_BAD_CONTENT_ENCODING: return error(.fetch, .encoding, "the compressed body is damaged")
        // libcurl's answer to a header line over 100 KiB.
        case CURLE_OUT_OF_MEMORY: return error(.tooLarge, .size, "sends header lines that are too long")
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2,
            CURLE_HTTP2_STREAM:
            return error(.fetch, .closed, "the connection broke off")
        default: return error(.fetch, .other, words)
        }
    }

    private static func shown(_ bytes: Int) -> String {
        bytes >= 1 << 20 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
    }

    /// libcurl's words about TLS, which name the certificate's problem and at most the host.
    private var tlsWords: String? {
        let text = String(cString: errorText)
        return text.isEmpty || text.contains("://") ? nil : text
    }
}

/// libcurl's write callback: a number other than what was offered ends the transfer.
private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    return exchange.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

/// libcurl's header callback, once for every header line and for the status line.
private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    return exchange.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}
