// Requests against a real server on loopback: answers, limits, redirects, streams, failures.

import Glibc
import Linux
import Notation
import Testing

@testable import Transfer

@Suite struct HTTPClientTests {
    let server = LoopbackServer.shared

    func fetch(_ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }) throws -> HTTPResponse {
        var request = HTTPRequest(.get, url)
        change(&request)
        return try HTTPClient().perform(request)
    }

    func failure(_ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }) -> TransferError? {
        do {
            _ = try fetch(url, change)
            return nil
        } catch { return error as? TransferError }
    }

    @Test func answersComeWithStatusHeadersAndBody() throws {
        let answer = try fetch(server.url("/hello"))
        #expect(answer.status == 200)
        #expect(answer.body == Array("hello".utf8))
        #expect(answer.header("Subscription-UserInfo") == "upload=1; download=2; total=3")
        #expect(try fetch(server.url("/status/403")).status == 403)
    }

    @Test func bodiesAndMethodsReachTheServer() throws {
        for method in [HTTPRequest.Method.put, .patch, .delete] {
            var request = HTTPRequest(method, server.url("/x"))
            request.body = Array("{\"name\":\"日本\"}".utf8)
            let answer = try HTTPClient().perform(request)
            #expect(String(decoding: answer.body, as: UTF8.self) == "\(method.rawValue) {\"name\":\"日本\"}")
        }
        #expect(try HTTPClient().perform(HTTPRequest(.delete, server.url("/x"))).body == Array("DELETE ".utf8))
    }

    @Test func compressionIsUndoneWhenAnnounced() throws {
        let answer = try fetch(server.url("/gzip")) { $0.compressed = true }
        #expect(answer.body == Array(String(repeating: "packed", count: 100).utf8))
        #expect(failure(server.url("/broken-gzip")) { $0.compressed = true }?.cause == .encoding)
    }

    @Test func compressionIsUndoneByItsFirstBytes() throws {
        let answer = try fetch(server.url("/gzip-unsaid"))
        #expect(
            Inflate.inflate(answer.body, limit: 1000) == .inflated(Array(String(repeating: "packed", count: 100).utf8)))
        #expect(Inflate.inflate(answer.body, limit: 599) == .tooLarge)
        #expect(Inflate.inflate(Array(answer.body.dropLast(9)), limit: 1000) == .damaged)
        #expect(Inflate.inflate(Array("proxies:".utf8), limit: 1000) == .plain)
    }

    @Test func sizeIsLimitedAfterDecompression() throws {
        #expect(try fetch(server.url("/big?1000")) { $0.bodyLimit = 1000 }.body.count == 1000)
        #expect(failure(server.url("/big?1001")) { $0.bodyLimit = 1000 }?.code == .tooLarge)
        let bomb = failure(server.url("/bomb")) {
            $0.compressed = true
            $0.bodyLimit = 8 << 20
        }
        #expect(bomb?.code == .tooLarge)
        #expect(failure(server.url("/headers"))?.code == .tooLarge)
    }

    @Test func redirectsKeepCookiesAgentAndQuery() throws {
        let answer = try fetch(server.url("/hop/3")) {
            $0.redirects = 5
            $0.cookies = true
            $0.userAgent = "sing-box/1.14.2"
        }
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(answer.redirects == 4)
        #expect(text.contains("path: /echo?a=1&b=2%2F3"))
        #expect(text.contains("Cookie: sid=abc"))
        #expect(text.contains("User-Agent: sing-box/1.14.2"))
    }

    @Test func redirectsEnd() {
        #expect(failure(server.url("/loop")) { $0.redirects = 5 }?.code == .tooManyRedirects)
        #expect(failure(server.url("/hop/5")) { $0.redirects = 5 }?.code == .tooManyRedirects)
        #expect(failure(server.url("/to?file:///etc/passwd")) { $0.redirects = 5 }?.cause == .redirect)
    }

    @Test func redirectsNeverLeaveTLS() throws {
        let down = failure(server.secureURL("/to?\(server.url("/hello"))")) {
            $0.redirects = 5
            $0.authorities = server.certificate
        }
        #expect(down?.cause == .redirect)
        let up = try fetch(server.url("/to?\(server.secureURL("/hello"))")) {
            $0.redirects = 5
            $0.authorities = server.certificate
        }
        #expect(up.status == 200)
    }

    @Test func certificatesAreChecked() {
        let untrusted = failure(server.secureURL("/secret-token"))
        #expect(untrusted?.code == .tls)
        #expect(untrusted?.cause == .certificate)
        #expect(untrusted?.description.contains("secret-token") == false)
        let wrongName = failure("https://127.0.0.1:\(server.secure)/") { $0.authorities = server.certificate }
        #expect(wrongName?.code == .tls)
        #expect(failure("https://127.0.0.1:\(server.plain)/")?.code == .tls)
    }

    @Test func authoritiesAreReadOnceAClient() throws {
        let place = try TemporaryDirectory()
        let directory = try Directory(place.path)
        try directory.replace("authorities.pem", with: UserFile.read(server.certificate, limit: 65_536), mode: 0o600)
        var request = HTTPRequest(.get, server.secureURL("/hello"))
        request.authorities = place.path + "/authorities.pem"
        // A connection of its own for each request.
        request.headers = [("Connection", "close")]
        let client = HTTPClient()
        #expect(try client.perform(request).status == 200)
        #expect(try directory.remove("authorities.pem"))
        #expect(try client.perform(request).status == 200)
        #expect(throws: TransferError.self) { try HTTPClient().perform(request) }
    }

    @Test func slowServersRunIntoTheTotalTime() {
        let started = Moment.now
        for path in ["/slow?token"] {
            let error = failure(server.url(path)) { $0.totalMilliseconds = 300 }
            #expect(error?.code == .timeout)
            #expect(error?.server == "127.0.0.1/…")
        }
        let mute = failure("http://127.0.0.1:\(server.silent)/") { $0.totalMilliseconds = 200 }
        #expect(mute?.code == .timeout)
        #expect(mute?.detail == "no complete answer within 0.2 s")
        let handshake = failure("https://127.0.0.1:\(server.silent)/") { $0.connectMilliseconds = 200 }
        #expect(handshake?.code == .timeout)
        #expect(handshake?.detail == "no connection within 0.2 s")
        #expect(Moment.now.milliseconds(since: started) < 10_000)
    }

    @Test func failuresSayWhatFailedAndNoSecret() {
        let refused = failure("http://127.0.0.1:1/token?x=secret")
        #expect(refused?.code == .fetch)
        #expect(refused?.cause == .refused)
        #expect(refused?.description == "127.0.0.1/…: Connection refused")
        #expect(failure(server.url("/cut"))?.cause == .closed)
        #expect(failure("http://\(String(repeating: "a", count: 64)).invalid/token")?.cause == .dns)
        #expect(failure("not an address")?.cause == .address)
        #expect(failure("file:///etc/passwd")?.cause == .address)
        let proxied = failure(server.url("/hello")) { $0.proxy = .url("http://127.0.0.1:1") }
        #expect(proxied?.code == .fetch)
    }

    /// In a process of its own, whose environment nobody else reads.
    @Test func aNamedProxyIsTakenWhateverTheEnvironmentExcepts() async {
        await #expect(processExitsWith: .success) {
            setenv("no_proxy", "*", 1)
            var request = HTTPRequest(.get, LoopbackServer.shared.url("/hello"))
            request.proxy = .url("http://127.0.0.1:1")
            let error = #expect(throws: TransferError.self) { try HTTPClient().perform(request) }
            #expect(error?.cause == .refused)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func whatEndsAtOnceIsNotWaitedFor() {
        let client = HTTPClient()
        var hasEnded = false
        client.start(HTTPRequest(.get, "http://127.0.0.1:1/")) { _ in hasEnded = true }
        while !hasEnded { client.wait(milliseconds: 600_000) }
    }

    @Test func manyRequestsRunAtOnce() {
        let requests = (0..<500).map { HTTPRequest(.get, server.url("/echo?n=\($0)")) }
        var seen = Set<Int>()
        HTTPClient().perform(requests, concurrency: 128) { position, result in
            guard let answer = try? result.get() else { return }
            if String(decoding: answer.body, as: UTF8.self).hasPrefix("path: /echo?n=\(position)\n") {
                seen.insert(position)
            }
        }
        #expect(seen.count == 500)
    }

    @Test func whatIsLeftIsCancelled() {
        let requests = (0..<20).map { _ in HTTPRequest(.get, "http://127.0.0.1:\(server.silent)/") }
        var results = 0
        let client = HTTPClient()
        client.perform(requests, concurrency: 4, while: { false }) { _, _ in results += 1 }
        #expect(results == 0)
        #expect(client.isIdle)
    }

    @Test func endlessAnswersComeInPartsBesideOtherDescriptors() throws {
        let client = HTTPClient()
        var lines = LineBuffer()
        var got: [String] = []
        var request = HTTPRequest(.get, server.url("/lines"))
        request.totalMilliseconds = nil
        let token = client.start(
            request,
            onBody: { bytes in
                got += lines.add(bytes).map { String(decoding: $0, as: UTF8.self) }
                return true
            }, onDone: { _ in Issue.record("the stream ended") })
        let pipe = try Pipe()
        var other = client.wait(milliseconds: 0, also: [(pipe.reader.number, .readable)])
        #expect(other == [[]])
        while got.count < 20 { client.wait(milliseconds: 1000) }
        try writeAll(pipe.writer.number, [1])
        other = client.wait(milliseconds: 10_000, also: [(pipe.reader.number, .readable)])
        #expect(other == [.readable])
        #expect(got.prefix(3) == ["{\"n\":0}", "{\"n\":1}", "{\"n\":2}"])
        client.cancel(token)
        #expect(client.isIdle)
    }

    @Test func aStreamCanBeGivenUpAndRequestsStartedFromItsHandler() throws {
        let client = HTTPClient()
        var ended: Result<HTTPResponse, TransferError>?
        var second: Result<HTTPResponse, TransferError>?
        var request = HTTPRequest(.get, server.url("/lines"))
        request.totalMilliseconds = nil
        client.start(
            request,
            onBody: { _ in
                client.start(HTTPRequest(.get, server.url("/hello"))) { second = $0 }
                return false
            }, onDone: { ended = $0 })
        while ended == nil || second == nil { client.wait(milliseconds: 1000) }
        #expect(throws: TransferError.self) { try ended?.get() }
        #expect(try second?.get().status == 200)
    }
}

@Suite struct LineBufferTests {
    @Test func linesAreCutWhereverThePartsEnd() {
        var buffer = LineBuffer(limit: 4)
        #expect(buffer.add(Array("ab".utf8)).isEmpty)
        #expect(buffer.add(Array("c\nde\n".utf8)).map { String(decoding: $0, as: UTF8.self) } == ["abc", "de"])
        #expect(buffer.add(Array("toolong".utf8)).isEmpty)
        #expect(buffer.add(Array("er\nok\n".utf8)).map { String(decoding: $0, as: UTF8.self) } == ["ok"])
    }
}

@Suite struct WebAddressTests {
    @Test func deepLinksAndOrdinaryAddresses() throws {
        let link = try #require(
            WebAddress("sing-box://import-remote-profile?url=https%3A%2F%2Fa.example%2Fs%3Ft%3D1#My%20VPN"))
        #expect(link.scheme == "sing-box")
        #expect(link.host == "import-remote-profile")
        #expect(link.queryValue("url") == "https://a.example/s?t=1")
        #expect(link.fragment?.percentDecoded == "My VPN")
        let plain = try #require(WebAddress("HTTPS://Panel.example/link/TOKEN?a=1"))
        #expect(plain.scheme == "https")
        #expect(plain.shown.contains("TOKEN") == false)
        #expect(WebAddress("no address") == nil)
        #expect(WebAddress("") == nil)
        // A slash too many or too few would make a host, which is shown, of a path, which is not.
        #expect(WebAddress("https:///TOKEN") == nil)
        #expect(WebAddress("https:/TOKEN") == nil)
        #expect(WebAddress.encoded("🇭🇰 a/b") == "%F0%9F%87%AD%F0%9F%87%B0%20a%2Fb")
    }
}
