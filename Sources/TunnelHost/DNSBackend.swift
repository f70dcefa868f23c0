// Who resolves names on this host, and how far they are led through the tunnel.

internal import Addressing

/// How well the host's DNS is led through the tunnel.
package enum DNSProtection: Hashable, Sendable, CustomStringConvertible {
    /// No per-link resolver runs: every query to port 53 is taken in by a rule, whoever it is meant for.
    case captured
    /// systemd-resolved was told to ask through the tunnel, and says that it will.
    case resolved
    /// systemd-resolved runs and could not be told. The guard, where there is one, rejects what it sends by other links.
    case refused(reason: String)

    /// In one sentence, for `status` and `doctor`.
    package var description: String {
        switch self {
        case .captured: "DNS queries to any server are taken into the tunnel"
        case .resolved: "systemd-resolved asks through the tunnel"
        case .refused(let reason):
            "systemd-resolved could not be told to ask through the tunnel (\(reason)): what it asks by other links goes "
                + "around the tunnel unless the kill-switch table stops it; install Trocket's polkit rule for user trocket"
        }
    }
}

/// Something that resolves names on this host and can be told by which link to ask.
protocol DNSBackend: AnyObject {
    /// Where it replaces a file whenever somebody has told it something.
    var directory: String { get }
    /// Whether it runs on this host now.
    func isPresent() throws(DNSError) -> Bool
    /// Tells it to send every query by this link to these servers, and reads back that it will.
    func secure(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError)
    /// Whether it still will.
    func isSecured(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) -> Bool
    /// Takes it back.
    func revert(_ link: InterfaceIndex) throws(DNSError)
}

/// A resolver that did not do as told.
struct DNSError: Error, Hashable {
    /// What was being done.
    let operation: String
    /// What it said.
    let text: String
}
