// What goes wrong, as one sentence, a stable code and a remedy.

package import JSON

/// A stable name of a kind of failure. The controller translates by it; texts may change, codes do not.
package struct FailureCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    private init(_ name: String) { rawValue = name }

    // MARK: The socket

    /// A request that cannot be understood.
    package static let badRequest = FailureCode("bad-request")
    /// A call this worker does not know.
    package static let unknownCall = FailureCode("unknown-call")
    /// Another version of the protocol.
    package static let protocolVersion = FailureCode("protocol-version")
    /// A line over the limit.
    package static let tooLarge = FailureCode("too-large")
    /// The peer may not use the socket.
    package static let notPermitted = FailureCode("not-permitted")
    /// The tunnel belongs to another user.
    package static let notOwner = FailureCode("not-owner")
    /// Another connect is under way, or the tunnel is being taken down.
    package static let busy = FailureCode("busy")
    /// All places of the socket are taken.
    package static let tooManyClients = FailureCode("too-many-clients")
    /// The tunnel does not wait for a confirmation.
    package static let nothingToConfirm = FailureCode("nothing-to-confirm")
    /// There is no tunnel to confirm.
    package static let notConnected = FailureCode("not-connected")
    /// The worker is ending.
    package static let stopping = FailureCode("stopping")
    /// A log cannot be read.
    package static let noLog = FailureCode("no-log")

    // MARK: The profile and the engine

    /// The user has no profile yet.
    package static let noProfile = FailureCode("no-profile")
    /// The profile is not a regular file of its user, or cannot be read.
    package static let badProfile = FailureCode("bad-profile")
    /// The engine's program is missing or cannot be run.
    package static let engineMissing = FailureCode("engine-missing")
    /// The engine ended while starting or running.
    package static let engineExited = FailureCode("engine-exited")
    /// The engine did not get ready in time.
    package static let engineTimeout = FailureCode("engine-timeout")
    /// The engine's sandbox is not the engine's own.
    package static let untrustedSandbox = FailureCode("untrusted-sandbox")
    /// The engine host, which starts the engine, is gone.
    package static let engineHostGone = FailureCode("engine-host-gone")

    // MARK: The system

    /// Unprivileged user namespaces are forbidden.
    package static let userNamespaces = FailureCode("user-namespaces-forbidden")
    /// /dev/net/tun is missing or closed.
    package static let noTUN = FailureCode("no-tun")
    /// nft is missing, and with it the kill switch.
    package static let noFirewall = FailureCode("nft-missing")
    /// The link's name or all addresses are taken by something else.
    package static let taken = FailureCode("taken")
    /// Another worker serves this network namespace.
    package static let secondWorker = FailureCode("second-worker")
    /// The network inside the sandbox could not be set up.
    package static let sandboxNetwork = FailureCode("sandbox-network")
    /// The network of the host could not be set up.
    package static let hostNetwork = FailureCode("host-network")
    /// What was set up is not what was read back.
    package static let notVerified = FailureCode("not-verified")
    /// Nobody confirmed in time.
    package static let notConfirmed = FailureCode("not-confirmed")
    /// A worker died with the kill switch on; the block it left is still in place.
    package static let workerDied = FailureCode("worker-died")
    /// A file or directory of the worker cannot be used.
    package static let stateDirectory = FailureCode("state-directory")
}

/// A failure as told to a person: what was being done and what went wrong in one sentence, and what to do about it.
package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stable name.
    package let code: FailureCode
    /// One English sentence. Never a secret.
    package let message: String
    /// One English sentence saying what to do, or nil.
    package let remedy: String?

    package init(_ code: FailureCode, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    package var description: String { "\(code.rawValue): \(message)" }

    /// `{"code", "message", "remedy"}`.
    package var json: JSON {
        ["code": .string(code.rawValue), "message": .string(message), "remedy": .optional(remedy)]
    }

    /// Reads a failure; nil when there is none.
    package init?(json: JSON) {
        guard let code = json["code"].string, let message = json["message"].string else { return nil }
        self.init(FailureCode(rawValue: code), message, remedy: json["remedy"].string)
    }
}
