// The error of every netlink request, and the results that are no errors.

package import Linux

/// A request the kernel refused: what was being done, to what, the error number, the kernel's own sentence if it gave one,
/// and what the user can do about it.
package struct NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was being done, as a phrase: "adding the route".
    package let operation: String
    /// To what, as `ip` writes it.
    package let subject: String
    /// The error number of the kernel.
    package let errno: Errno
    /// The kernel's sentence (NETLINK_EXT_ACK), such as "Nexthop has invalid gateway".
    package let kernelText: String?

    /// An error.
    package init(_ operation: String, _ subject: String, _ errno: Errno, kernelText: String? = nil) {
        self.operation = operation
        self.subject = subject
        self.errno = errno
        self.kernelText = kernelText
    }

    /// What the user can do, where that is known.
    package var remedy: String? {
        switch errno {
        case .notPermitted, .accessDenied:
            "the program needs CAP_NET_ADMIN in this network namespace: start it as the service or as root"
        case .notSupported:
            "the kernel lacks this part of its network stack: load or build it in"
        default: nil
        }
    }

    package var description: String {
        let place = subject.isEmpty ? operation : "\(operation) \(subject)"
        let said = kernelText.map { " (\($0))" } ?? ""
        let advice = remedy.map { "; \($0)" } ?? ""
        return "\(place): \(errno)\(said)\(advice)"
    }
}

/// What asking for something to be there came to.
package enum Addition: Hashable, Sendable {
    case added
    /// It was there already (EEXIST).
    case existed
}

/// What asking for something to be gone came to.
package enum Removal: Hashable, Sendable {
    case removed
    /// It was not there (ENOENT, ESRCH, ENODEV, EADDRNOTAVAIL).
    case absent
}

extension Errno {
    static let noSuchAddress = Errno(rawValue: 99)
    static let noBufferSpace = Errno(rawValue: 105)

    /// True for the ways the kernel says that what should be removed is not there.
    var meansAbsent: Bool { [.noSuchFile, .noSuchProcess, .noSuchDevice, .noSuchAddress].contains(self) }
}
