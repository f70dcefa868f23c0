// What is asked of an HTTP server, and what it answered.

/// One HTTP request with every limit it is held to.
package struct HTTPRequest: Sendable {
    /// The method on the wire.
    package enum Method: String, Sendable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// Where requests go besides the server itself.
    package enum Proxy: Sendable {
        /// Straight to the server, whatever the environment says: the engine's control API.
        case none
        /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl(1) reads them.
        case environment
        /// This proxy, such as `socks5h://127.0.0.1:1080`.
        case url(String)
    }

    /// The method.
    package var method: Method
    /// The address; may hold a credential, so it is never logged and never part of an error.
    package var url: String
    /// Header lines in order: name, value.
    package var headers: [(name: String, value: String)] = []
    /// What is sent; nil for nothing.
    package var body: [UInt8]?
    /// The User-Agent; nil for none.
    package var userAgent: String?
    /// Milliseconds to a connection, TLS included.
    package var connectMilliseconds = 10_000
    /// Milliseconds to the last byte, redirects included; nil for an endless response.
    package var totalMilliseconds: Int? = 30_000
    /// The number of redirects followed; a redirect from https to http is never followed.
    package var redirects = 0
    /// Bytes of body after decompression; ignored for a streamed body.
    package var bodyLimit = 32 << 20
    /// The proxy asked; none by default, whatever the environment says.
    package var proxy = Proxy.none
    /// Whether gzip, deflate and br are offered and undone.
    package var compressed = false
    /// Whether cookies set on the way are sent back to the same site within this request. Nothing is kept afterwards.
    package var cookies = false
    /// A PEM file of certificate authorities instead of the system's.
    package var authorities: String?

    package init(_ method: Method = .get, _ url: String) {
        self.method = method
        self.url = url
    }
}

/// An answer, whatever its status.
package struct HTTPResponse: Sendable {
    /// The status code of the last answer.
    package var status: Int
    /// Header lines of the last answer, names in lower case, in order.
    package var headers: [(name: String, value: String)]
    /// The body after decompression; empty when it was streamed.
    package var body: [UInt8]
    /// Milliseconds from start to end.
    package var milliseconds: Int
    /// The redirects followed.
    package var redirects: Int

    package init(
        status: Int, headers: [(name: String, value: String)], body: [UInt8], milliseconds: Int = 0, redirects: Int = 0
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.milliseconds = milliseconds
        self.redirects = redirects
    }

    /// The value of the last header line of this name (any case); nil without one.
    package func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.last { $0.name == name }?.value
    }
}
