// The limits and names of the protocol between controller and worker, which both sides must agree on.

/// The protocol: one JSON object a line over an AF_UNIX stream socket.
package enum CommandProtocol {
    /// What `v` must be in a request, and `protocol` is in the answer to `hello`.
    package static let version = 1
    /// The release both programs are of.
    package static let release = "0.1.0"
    /// The longest line either side accepts, in bytes, without its line feed.
    package static let frameLimit = 65_536
    /// Connections the worker serves at one time.
    package static let clientLimit = 64
    /// Calls of one connection, and calls to connect of all of them, that may wait for their answer at one time.
    package static let waitingLimit = 16
    /// The socket's name in that directory.
    package static let socketName = "command.sock"
    /// The socket's path unless told otherwise.
    package static let defaultSocket = "/run/trocket/command.sock"
}
