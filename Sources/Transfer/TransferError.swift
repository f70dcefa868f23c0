// Why a transfer failed, in codes a program can act on and words that hold no secret.

/// A failed transfer. Neither the code nor the words hold more of the address than `host/…`: the path of a subscription
/// link is a credential.
package struct TransferError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; raw values are the error codes of `import --json`.
    package enum Code: String, Sendable {
        /// The server answered with a status that is no success.
        case http
        /// No connection, or it broke.
        case fetch
        case tls
        case timeout
        case tooLarge = "too-large"
        case tooManyRedirects = "too-many-redirects"
        /// The caller gave it up.
        case cancelled
    }

    /// What exactly failed, for latency results and remedies.
    package enum Cause: String, Sendable {
        case address, dns, refused, unreachable, closed, proxy, encoding, redirect, certificate, handshake, time, size
        case status, other
    }

    /// The stable name.
    package let code: Code
    /// What went wrong beneath.
    package let cause: Cause
    /// `host/…`, or empty when the address could not be read.
    package let server: String
    /// What libcurl or the system said, such as "Connection refused"; never a path or a query.
    package let detail: String
    /// The HTTP status, when there was an answer.
    package let status: Int?

    package init(_ code: Code, _ cause: Cause, server: String, detail: String, status: Int? = nil) {
        self.code = code
        self.cause = cause
        self.server = server
        self.detail = detail
        self.status = status
    }

    package var description: String { server.isEmpty ? detail : "\(server): \(detail)" }
}
