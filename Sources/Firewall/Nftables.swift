// The owner of a libnftables context: runs batches, lists tables, replaces a table in one transaction.

internal import CNftables

/// A libnftables context in the network namespace it was made in. A table with `flags owner` belongs to the context that
/// made it: other processes can neither change nor flush it, and it is gone when the context goes (seen with libnftables
/// 1.0.6 on Linux 6.18). So keep the context as long as such a table is wanted. Used by one thread.
package final class Nftables {
    private let context: OpaquePointer

    /// Opens a context.
    /// - Parameter reachable: whether a netlink socket to netfilter can be made; the caller finds out, because libnftables
    ///   ends the process when it cannot make one.
    /// - Returns: nil when nft cannot be used at all.
    package init?(reachable: Bool) {
        guard reachable, let context = nft_ctx_new(UInt32(NFT_CTX_DEFAULT)) else { return nil }
        guard nft_ctx_buffer_output(context) == 0, nft_ctx_buffer_error(context) == 0 else {
            nft_ctx_free(context)
            return nil
        }
        self.context = context
    }

    deinit { nft_ctx_free(context) }

    /// Runs commands as one transaction: all of it or nothing.
    /// - Returns: what they printed.
    /// - Throws: `FirewallError` with libnftables' own words.
    @discardableResult
    package func run(
        _ commands: String, _ operation: String, _ subject: String
    ) throws(FirewallError) -> String {
        let result = nft_run_cmd_from_buffer(context, commands)
        let output = nft_ctx_get_output_buffer(context).map { String(cString: $0) } ?? ""
        let problem = nft_ctx_get_error_buffer(context).map { String(cString: $0) } ?? ""
        guard result == 0 else {
            throw FirewallError(operation: operation, subject: subject, text: Self.firstLine(problem))
        }
        return output
    }

    /// Whether the kernel would take this rule set; nothing is changed.
    package func check(_ ruleset: String) -> FirewallAvailability {
        nft_ctx_set_dry_run(context, true)
        defer { nft_ctx_set_dry_run(context, false) }
        do throws(FirewallError) { try run(ruleset, "checking", "a rule set") } catch {
            return .unavailable(reason: "the kernel refuses a rule set this program needs (\(error.text))")
        }
        return .available
    }

    /// The names of the tables of family `inet`.
    package func tables() throws(FirewallError) -> [String] {
        try run("list tables inet", "listing", "tables").split(separator: "\n").compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
    }

    /// A table as nft lists it; nil when there is none.
    /// - Parameter withElements: false leaves out what its named sets hold, which may be thousands.
    package func listing(_ table: String, withElements: Bool = true) throws(FirewallError) -> String? {
        guard try tables().contains(table) else { return nil }
        let before = nft_ctx_output_get_flags(context)
        if !withElements { nft_ctx_output_set_flags(context, before | UInt32(NFT_CTX_OUTPUT_TERSE)) }
        defer { nft_ctx_output_set_flags(context, before) }
        return try run("list table inet \(table)", "listing table", table)
    }

    /// Puts a table in place of the one that may be there, in one transaction, so that at no moment there is none.
    /// - Parameter text: the table, from `table inet NAME {` to its brace.
    /// - Throws: `FirewallError`.
    package func replace(_ table: String, with text: String) throws(FirewallError) {
        // Naming the table before deleting it would fail when the old one has an owner and the new one not, or the reverse.
        let removal = try tables().contains(table) ? "delete table inet \(table)\n" : ""
        try run(removal + text, "replacing table", table)
    }

    /// Puts other contents into a table that stays, in one transaction.
    /// - Parameter filling: the commands that fill it when it is empty.
    /// - Throws: `FirewallError`.
    package func refill(_ table: String, with filling: String) throws(FirewallError) {
        let objects = (try listing(table, withElements: false) ?? "").split(separator: "\n").compactMap { line in
            // "\tset NAME {", "\tchain NAME {"
            line.hasPrefix("\tset ") || line.hasPrefix("\tchain ") ? line.split { "\t {".contains($0) } : nil
        }
        // Chains first: their rules use the sets.
        let removals = objects.sorted { $0[0] < $1[0] }.map { "delete \($0[0]) inet \(table) \($0[1])\n" }
        try run("flush table inet \(table)\n" + removals.joined() + filling, "refilling table", table)
    }

    /// Removes a table; false when there was none.
    @discardableResult
    package func remove(_ table: String) throws(FirewallError) -> Bool {
        guard try tables().contains(table) else { return false }
        try run("delete table inet \(table)", "removing table", table)
        return true
    }

    /// The first line of a message of libnftables, without the place in the buffer.
    private static func firstLine(_ text: String) -> String {
        let line = text.split(separator: "\n").first.map(String.init) ?? "no reason given"
        guard let range = line.utf8.firstRange(of: "Error: ".utf8) else { return line }
        return String(line[range.upperBound...])
    }
}

/// The words of a rule set without its line breaks and comments, to compare two listings.
package func normalizedRuleset(_ text: String) -> String {
    text.split(separator: "\n").map { line in
        // nft marks an owned table with its owner's name.
        line.utf8.firstIndex(of: UInt8(ascii: "#")).map { line[..<$0] } ?? line
    }.joined(separator: " ").split { $0 == " " || $0 == "\t" }.joined(separator: " ")
}
