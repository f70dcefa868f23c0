// Listings of nft that change while they are read; each test in a namespace of its own.

import CNetlink
import Glibc
import Linux
import NamespaceSupport
import Testing

@testable import Netlink

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct NetfilterSocketTests {
    @Test func aDisturbedListIsReadAgain() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let own = try NetfilterDescriptor()
            try makeRules()
            var passes: [UInt64] = []
            let found = try list(own) { first in
                passes.append(first)
                if passes.count == 1 { shell("nft delete rule inet t c handle \(first)") }
            }
            #expect(passes.count == 2)
            // What is gone is not in it, and nothing after it was passed over.
            #expect(found == (1..<count).map { passes[0] + $0 })
        }
    }

    @Test func aListThatNeverHoldsStillIsAFailure() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let own = try NetfilterDescriptor()
            try makeRules()
            var passes = 0
            let error = #expect(throws: NetlinkError.self) {
                _ = try list(own) { _ in
                    passes += 1
                    shell("nft add table inet t\(passes)")
                }
            }
            #expect(error?.errno == .interrupted && passes == 10)
        }
    }
}

/// So many rules that the kernel lists them in several datagrams.
private let count: UInt64 = 1000

private func makeRules() throws {
    let path = makeTemporaryDirectory()
    let rules = String(repeating: "accept\n", count: Int(count))
    try UserFile.write("\(path)/rules", Array("table inet t { chain c {\n\(rules)}; }\n".utf8))
    shell("nft -f \(path)/rules")
    removeTemporaryDirectory(path)
}

/// The handles of the rules, in their order.
/// - Parameter whileRead: called with the first one in every pass.
private func list(_ own: borrowing NetfilterDescriptor, whileRead: (UInt64) -> Void) throws -> [UInt64] {
    // NFT_MSG_GETRULE and NFT_MSG_NEWRULE, NFTA_RULE_TABLE and NFTA_RULE_HANDLE.
    try NetfilterSocket(own.number).list(7, 6, NetfilterAttribute(1, "t").bytes, "t", addingTo: [UInt64]()) {
        found, rule in
        let handle = UInt64(bigEndian: rule.value(3) ?? 0)
        found.append(handle)
        if found.count == 1 { whileRead(handle) }
    }
}

/// A netfilter socket that does not block.
private struct NetfilterDescriptor: ~Copyable {
    let number: Int32
    init() throws {
        number = try checkErrno("opening a netfilter socket") {
            socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue), NETLINK_NETFILTER)
        }
    }
    deinit { close(number) }
}
