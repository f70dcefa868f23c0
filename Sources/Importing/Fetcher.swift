// Fetching a subscription under its policy: https to the end, limits on everything, nothing told about the link.

package import Transfer

/// One thing to fetch.
package struct FetchRequest: Hashable, Sendable {
    /// As secret as a password.
    package var url: String
    /// The User-Agent asked with.
    package var agent: String

    package init(url: String, agent: String) {
        self.url = url
        self.agent = agent
    }
}

/// Something that fetches: the network, or a test's table. Results in the order of the requests.
package typealias Fetch = ([FetchRequest]) -> [Result<SourceBody, TransferError>]

/// Fetches over the network.
package struct Fetcher {
    /// Bytes of a body after decompression.
    package static let limit = 32 << 20
    private let client: HTTPClient
    private let variable: (String) -> String?
    private let tick: () -> Void

    /// - Parameters:
    ///   - variable: looks up an environment variable: `SSL_CERT_FILE`; the proxies are libcurl's to read.
    ///   - tick: called about twice a second while something is on its way.
    package init(
        client: HTTPClient, environment variable: @escaping (String) -> String?, tick: @escaping () -> Void = {}
    ) {
        self.client = client
        self.variable = variable
        self.tick = tick
    }

    /// Gives a request the policy's proxy and authorities.
    package func prepare(_ request: inout HTTPRequest) {
        request.proxy = .environment
        if let file = variable("SSL_CERT_FILE"), !file.isEmpty { request.authorities = file }
    }

    /// Fetches, at most sixteen at a time (as many as lists of lines are taken).
    package func fetch(_ requests: [FetchRequest]) -> [Result<SourceBody, TransferError>] {
        var results: [Result<SourceBody, TransferError>] = requests.map { request in
            .failure(
                TransferError(.cancelled, .other, server: WebAddress(request.url)?.shown ?? "", detail: "given up"))
        }
        let prepared = requests.map { wanted in
            var request = HTTPRequest(.get, wanted.url)
            request.userAgent = wanted.agent
            request.redirects = 5
            request.cookies = true
            request.compressed = true
            request.bodyLimit = Self.limit
            prepare(&request)
            return request
        }
        let goesOn = {
            tick()
            return true
        }
        client.perform(prepared, concurrency: 16, while: goesOn) { position, result in
            results[position] = result.flatMap { answer in Self.body(answer, requests[position]) }
        }
        return results
    }

    /// Judges an answer and undoes compression nobody announced.
    static func body(_ answer: HTTPResponse, _ request: FetchRequest) -> Result<SourceBody, TransferError> {
        let server = WebAddress(request.url)?.shown ?? ""
        guard (200..<300).contains(answer.status) else {
            return .failure(
                TransferError(
                    .http, .status, server: server, detail: "the server answers with status \(answer.status)",
                    status: answer.status))
        }
        var bytes = answer.body
        switch Inflate.inflate(bytes, limit: limit) {
        case .plain: break
        case .inflated(let inflated): bytes = inflated
        case .tooLarge:
            return .failure(
                TransferError(
                    .tooLarge, .size, server: server, detail: "unpacks to more than \(limit >> 20) MiB",
                    status: answer.status))
        case .damaged:
            return .failure(
                TransferError(
                    .fetch, .encoding, server: server, detail: "the compressed body is damaged", status: answer.status))
        }
        return .success(
            SourceBody(
                agent: request.agent, bytes: bytes, status: answer.status,
                details: ProviderDetails(header: { answer.header($0) })))
    }
}
