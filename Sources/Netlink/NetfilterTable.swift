// An nft table as a whole: whose it is, what it is made of, its removal; by messages of our own.

internal import CNetlink
internal import Linux

/// An nft table of family `inet`.
package struct NetfilterTable {
    private let socket: NetfilterSocket
    private let name: String

    /// A table by its name.
    package init(_ socket: NetfilterSocket, _ name: String) {
        self.socket = socket
        self.name = name
    }

    /// Makes the table, empty, or takes the one a dead owner left, as it is: it obeys this socket alone, not even `nft flush
    /// ruleset` of root touches it, and it stays when the socket goes (NFT_TABLE_F_OWNER with NFT_TABLE_F_PERSIST, Linux 6.9,
    /// a word libnftables 1.0.6 does not know).
    /// - Returns: false when it cannot be had: the kernel has no such tables, or one without that mark has the name.
    /// - Throws: `NetlinkError`, for instance when somebody else owns it.
    package func hold() throws(NetlinkError) -> Bool {
        do throws(NetlinkError) { try socket.change([holding], "taking table", name) } catch {
            guard error.errno == .notSupported else { throw error }
            return false
        }
        return true
    }

    /// Makes the table anew, empty, as `hold` does; the one that is there goes in the same moment.
    /// - Returns: false when the kernel has no such tables; nothing has changed then.
    /// - Throws: `NetlinkError`.
    package func replaceByHeld() throws(NetlinkError) -> Bool {
        let removal = NetfilterSocket.Message(type: Self.deleteTable, attributes: subject)
        do throws(NetlinkError) { try socket.change([removal, holding], "replacing table", name) } catch {
            guard error.errno == .notSupported else { throw error }
            return false
        }
        return true
    }

    /// Removes the table, however much it holds.
    /// - Returns: false when there was none.
    /// - Throws: `NetlinkError`.
    @discardableResult
    package func remove() throws(NetlinkError) -> Bool {
        do throws(NetlinkError) {
            try socket.change([.init(type: Self.deleteTable, attributes: subject)], "removing table", name)
        } catch {
            guard error.errno == .noSuchFile else { throw error }
            return false
        }
        return true
    }

    /// What the table is made of but for the elements of its sets: its chains and rules. libnftables would read, and keep,
    /// every element before it lists anything. What it is compared with must be of the same table.
    /// - Returns: nil when there is no such table.
    /// - Throws: `NetlinkError`.
    package func fingerprint() throws(NetlinkError) -> Fingerprint? {
        var found = Fingerprint()
        for (ask, answer, which, parts) in [
            // The name, hook and policy of a chain; the chain and the expressions of a rule. Chains come of every table.
            (Self.getChains, Self.newChain, [], [3, 4, 5]), (Self.getRules, Self.newRule, subject, [2, 4]),
        ] {
            found = try socket.list(ask, answer, which, name, addingTo: found) { found, attributes in
                // NFTA_CHAIN_TABLE and NFTA_RULE_TABLE are both 1.
                guard attributes.string(1) == name else { return }
                found.add(
                    parts.flatMap { part in attributes[part].map(Array.init) ?? [] },
                    UInt8(truncatingIfNeeded: found.count))
            }
        }
        return found.count == 0 ? nil : found
    }

    private var holding: NetfilterSocket.Message {
        // NFTA_TABLE_FLAGS.
        let flags = NetfilterAttribute(2, Self.isOwned | Self.outlivesOwner)
        return .init(type: Self.newTable, flags: NLM_F_CREATE, attributes: subject + flags.bytes)
    }

    /// NFTA_TABLE_NAME.
    private var subject: [UInt8] { NetfilterAttribute(1, name).bytes }

    /// NFT_TABLE_F_OWNER and NFT_TABLE_F_PERSIST.
    private static let isOwned: UInt32 = 2
    private static let outlivesOwner: UInt32 = 4
    /// NFT_MSG_NEWTABLE, NFT_MSG_DELTABLE, NFT_MSG_NEWCHAIN, NFT_MSG_GETCHAIN, NFT_MSG_NEWRULE and NFT_MSG_GETRULE.
    private static let newTable: UInt16 = 0
    private static let deleteTable: UInt16 = 2
    private static let newChain: UInt16 = 3
    private static let getChains: UInt16 = 4
    private static let newRule: UInt16 = 6
    private static let getRules: UInt16 = 7
}
