// What can be wrong with nft: missing altogether, or a rule set it refused.

/// Whether nft can be used here.
package enum FirewallAvailability: Hashable, Sendable {
    case available
    /// Why not, as a sentence for people.
    case unavailable(reason: String)

    /// True when it can be used.
    package var isAvailable: Bool { self == .available }
}

/// A rule set that nft refused.
package struct FirewallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was being done, as a phrase: "replacing table".
    package let operation: String
    /// To what: the table.
    package let subject: String
    /// What libnftables said, in one line.
    package let text: String

    /// An error.
    package init(operation: String, subject: String, text: String) {
        self.operation = operation
        self.subject = subject
        self.text = text
    }

    /// What the user can do, where that is known.
    package var remedy: String? {
        if text.contains("Operation not permitted") {
            "another process owns the table (see `nft list tables`), or the program lacks CAP_NET_ADMIN"
        } else if text.contains("Operation not supported") || text.contains("No such file") {
            "the kernel may lack a part of nft: load nf_tables, nft_ct and nft_reject_inet"
        } else {
            nil
        }
    }

    package var description: String {
        "\(operation) \(subject): \(text)" + (remedy.map { "; \($0)" } ?? "")
    }
}
