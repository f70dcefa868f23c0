// Tables made through libnftables, compared with what `nft` shows; each test in a namespace of its own.

import Addressing
import Firewall
import Linux
import NamespaceSupport
import Netlink
import NetworkPlan
import Testing

private func guardTable(
    _ lifetime: GuardTable.Lifetime, domestic: [Prefix] = [], resolver: UserID? = nil
) -> GuardTable {
    GuardTable(
        engine: UserID(rawValue: 61002), resolver: resolver,
        onLink: [Prefix("203.0.113.0/24")!, Prefix("2001:db8:1::/64")!],
        domestic: domestic, lifetime: lifetime)
}

private let name = Reserved.guardTable

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct NftablesTests {
    @Test func guardIsListedAsItIsWritten() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let nft = try #require(Nftables(reachable: netfilterRefusal() == nil))
            let domestic = ["1.0.1.0/24", "1.0.2.0/23", "2001:250::/35"].map { Prefix($0)! }
            for table in [
                guardTable(.worker), guardTable(.persistent), guardTable(.persistent, domestic: domestic),
                guardTable(.worker, resolver: UserID(rawValue: 61003)),
            ] {
                let listing = try nft.replace(name, with: table.text)
                #expect(normalizedRuleset(listing) == normalizedRuleset(table.text))
                #expect(normalizedRuleset(shell("nft list ruleset")) == normalizedRuleset(table.text))
            }
            #expect(try nft.remove(name))
            #expect(try !nft.remove(name))
            #expect(try nft.listing(name) == nil)
        }
    }

    @Test func sandboxIsListedAsItIsWritten() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let nft = try #require(Nftables(reachable: true))
            let text = try #require(SandboxPlan(addresses: .preferred, hasNft: true).ruleset)
            #expect(nft.check(text) == .available)
            #expect(shell("nft list ruleset") == "")
            #expect(normalizedRuleset(try nft.replace(Reserved.sandboxTable, with: text)) == normalizedRuleset(text))
        }
    }

    @Test func anOwnedTableBelongsToItsContextAndGoesWithIt() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            var owner = Nftables(reachable: true)
            let other = try #require(Nftables(reachable: true))
            _ = try owner?.replace(name, with: guardTable(.worker).text)
            shell("nft delete table inet \(name); nft flush ruleset")
            #expect(try other.listing(name) != nil)
            let error = #expect(throws: FirewallError.self) { try other.remove(name) }
            #expect(error?.text == "Could not process rule: Operation not permitted")
            #expect(error?.remedy?.contains("another process owns the table") == true)
            owner = nil
            #expect(try other.listing(name) == nil)
        }
    }

    @Test func theKillSwitchIsSwitchedInOneTransaction() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let nft = try #require(Nftables(reachable: true))
            var listing = ""
            for lifetime in [GuardTable.Lifetime.worker, .persistent, .worker, .worker, .persistent, .persistent] {
                let bad = guardTable(lifetime).text.replacingLast("reject", with: "jump nowhere")
                if !listing.isEmpty {
                    // The removal of the old table is part of the transaction: refused together.
                    #expect(throws: FirewallError.self) { _ = try nft.replace(name, with: bad) }
                    #expect(try nft.listing(name) == listing)
                }
                listing = try nft.replace(name, with: guardTable(lifetime).text)
                #expect(listing.contains("flags owner") == (lifetime == .worker))
            }
        }
    }

    @Test func aRefusedRuleSetChangesNothing() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let nft = try #require(Nftables(reachable: true))
            let listing = try nft.replace(name, with: guardTable(.persistent).text)
            let bad = guardTable(.persistent).text.replacingLast("reject", with: "jump nowhere")
            #expect(throws: FirewallError.self) { _ = try nft.replace(name, with: bad) }
            #expect(try nft.listing(name) == listing)
            guard case .unavailable(let reason) = nft.check("table inet x { chain c { frobnicate } }") else {
                Issue.record("a rule set with an unknown word passed")
                return
            }
            #expect(reason.contains("syntax error"))
        }
    }

    @Test func aMissingNftIsAValueAndNoCrash() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            try denySockets()
            #expect(netfilterRefusal() == .notPermitted)
            #expect(Nftables(reachable: netfilterRefusal() == nil) == nil)
            let error = #expect(throws: NetlinkError.self) { _ = try ChangeMonitor() }
            #expect(error?.errno == .notPermitted)
        }
    }

    @Test func aLargeDomesticSetIsTakenAndRemoved() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let nft = try #require(Nftables(reachable: true))
            let domestic = (0..<6163).map { number in
                Prefix(containing: .ipv4(IPv4Address(rawValue: 0x0100_0000 + UInt32(number) << 11)), length: 22)!
            }
            let listing = try nft.replace(name, with: guardTable(.worker, domestic: domestic).text)
            #expect(listing.contains("1.0.8.0/22"))
            _ = try nft.replace(name, with: guardTable(.worker).text)
            #expect(try nft.listing(name)?.contains("domestic4") == false)
        }
    }
}

extension String {
    fileprivate func replacingLast(_ word: String, with other: String) -> String {
        var parts = split(separator: word, omittingEmptySubsequences: false).map(String.init)
        let last = parts.removeLast()
        return parts.joined(separator: word) + other + last
    }
}
