// Tables made through libnftables, compared with what `nft` shows; each test in a namespace of its own.

import Addressing
import Firewall
import Linux
import NamespaceSupport
import Netlink
import NetworkPlan
import Testing

private func guardTable(_ lifetime: GuardTable.Lifetime, resolver: UserID? = nil) -> GuardTable {
    GuardTable(
        engine: UserID(rawValue: 61002), resolver: resolver,
        onLink: [Prefix("203.0.113.0/24")!, Prefix("2001:db8:1::/64")!], lifetime: lifetime)
}

private let name = Reserved.guardTable

@Suite(.enabled(if: canMakeNamespaces, "making network namespaces needs root"))
struct NftablesTests {
    @Test func guardIsListedAsItIsWritten() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let nft = try #require(Nftables(reachable: netfilterRefusal() == nil))
            let tables = [
                guardTable(.worker), guardTable(.persistent), guardTable(.worker, resolver: UserID(rawValue: 61003)),
            ]
            for table in tables {
                try nft.replace(name, with: table.text)
                let terse = try #require(try nft.listing(name, withElements: false))
                #expect(!terse.contains("203.0.113.0") && terse.contains("10.0.0.0/8"))
                let listing = try #require(try nft.listing(name))
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
            try nft.replace(Reserved.sandboxTable, with: text)
            #expect(normalizedRuleset(try nft.listing(Reserved.sandboxTable) ?? "") == normalizedRuleset(text))
        }
    }

    @Test func anOwnedTableBelongsToItsContextAndGoesWithIt() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            var owner = Nftables(reachable: true)
            let other = try #require(Nftables(reachable: true))
            try owner?.replace(name, with: guardTable(.worker).text)
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
                    #expect(throws: FirewallError.self) { try nft.replace(name, with: bad) }
                    #expect(try nft.listing(name) == listing)
                }
                try nft.replace(name, with: guardTable(lifetime).text)
                listing = try nft.listing(name) ?? ""
                #expect(listing.contains("flags owner") == (lifetime == .worker))
            }
        }
    }

    @Test func aRefusedRuleSetChangesNothing() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let nft = try #require(Nftables(reachable: true))
            try nft.replace(name, with: guardTable(.persistent).text)
            let listing = try nft.listing(name)
            let bad = guardTable(.persistent).text.replacingLast("reject", with: "jump nowhere")
            #expect(throws: FirewallError.self) { try nft.replace(name, with: bad) }
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

    @Test func aHeldTableObeysItsOwnerAndOutlivesIt() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let other = try #require(Nftables(reachable: true))
            let written = normalizedRuleset(guardTable(.persistent).text)
            var owner: (nft: Nftables, socket: NetfilterSocket)? = try openNft()
            if let owner {
                let table = NetfilterTable(owner.socket, name)
                #expect(try table.hold())
                for _ in 0..<2 {
                    try owner.nft.refill(name, with: guardTable(.persistent).filling)
                    let listing = normalizedRuleset(try other.listing(name) ?? "")
                    #expect(listing == written.replacing("{ set", with: "{ flags owner set"))
                }
                shell("nft flush ruleset; nft delete table inet \(name); nft flush chain inet \(name) out")
                #expect(try other.listing(name)?.contains("reject") == true)
                #expect(throws: FirewallError.self) { try other.remove(name) }
                // A transaction that fails leaves everything.
                let bad = guardTable(.persistent).filling.replacingLast("reject", with: "jump nowhere")
                #expect(throws: FirewallError.self) { try owner.nft.refill(name, with: bad) }
                #expect(try other.listing(name)?.contains("reject") == true)
            }
            owner = nil
            // libnftables 1.0.6 has no word for the flag that is left.
            let orphan = normalizedRuleset(try other.listing(name) ?? "")
            #expect(orphan == written.replacing("{ set", with: "{ flags set"))
            // The next owner takes it as it is.
            owner = try openNft()
            if let owner {
                #expect(try NetfilterTable(owner.socket, name).hold())
                #expect(normalizedRuleset(try other.listing(name) ?? "").contains("flags owner"))
                #expect(throws: FirewallError.self) { try other.remove(name) }
                #expect(try NetfilterTable(owner.socket, name).remove())
                #expect(try !NetfilterTable(owner.socket, name).remove())
                // One of another kind has to give way.
                for lifetime in [GuardTable.Lifetime.worker, .persistent] {
                    try owner.nft.replace(name, with: guardTable(lifetime).text)
                    #expect(try !NetfilterTable(owner.socket, name).hold())
                    #expect(try NetfilterTable(owner.socket, name).replaceByHeld())
                    #expect(try NetfilterTable(owner.socket, name).hold())
                    #expect(try other.listing(name)?.contains("reject") == false)
                }
            }
        }
    }

    @Test func thousandsOfElementsGoIntoAnOwnedTableBySocketAlone() async {
        await #expect(processExitsWith: .success) {
            enterFreshNamespace()
            let (nft, socket) = try openNft()
            let name = Reserved.domesticTable
            try nft.replace(name, with: DomesticTable.text)
            #expect(normalizedRuleset(try nft.listing(name) ?? "") == normalizedRuleset(DomesticTable.text))
            let four = (0..<6163).map { number in
                Prefix(containing: .ipv4(IPv4Address(rawValue: 0x0100_0000 + UInt32(number) << 11)), length: 22)!
            }
            let six = ["2001:250::/35", "2001:250:2000::/35", "2400::/64"].map { Prefix($0)! }
            for (family, prefixes) in [(AddressFamily.ipv4, four), (.ipv6, six)] {
                let set = NetfilterSet(socket, table: name, name: DomesticTable.set(family))
                let intervals = AddressInterval.covering(prefixes)
                #expect(try set.fingerprint() == Fingerprint())
                try set.add(intervals)
                #expect(try set.fingerprint() == Fingerprint(elements: intervals))
                #expect(try set.fingerprint() != Fingerprint(elements: intervals.dropLast()))
            }
            #expect(try nft.listing(name, withElements: false)?.contains("1.0.8.0") == false)
            let listing = try #require(try nft.listing(name))
            #expect(listing.contains("1.0.8.0/22") && listing.contains("2001:250::/34"))
            #expect(shell("nft get element inet \(name) domestic4 '{ 1.0.8.9 }'").contains("1.0.8.0/22"))
            #expect(shell("nft get element inet \(name) domestic4 '{ 1.0.12.1 }'").contains("Error"))
            // Another socket may look and not touch.
            let (other, foreign) = try openNft()
            let set = NetfilterSet(foreign, table: name, name: DomesticTable.set(.ipv4))
            #expect(try set.fingerprint().count == 2 * four.count)
            let error = #expect(throws: NetlinkError.self) { try NetfilterTable(foreign, name).remove() }
            #expect(error?.errno == .notPermitted)
            #expect(try NetfilterTable(socket, name).remove())
            withExtendedLifetime((nft, other)) {}
        }
    }
}

/// A context, and its socket.
private func openNft() throws -> (nft: Nftables, socket: NetfilterSocket) {
    let before = netfilterSockets()
    let nft = try #require(Nftables(reachable: true))
    let opened = netfilterSockets().subtracting(before)
    #expect(opened.count == 1)
    return (nft, NetfilterSocket(try #require(opened.first)))
}

extension String {
    fileprivate func replacingLast(_ word: String, with other: String) -> String {
        var parts = split(separator: word, omittingEmptySubsequences: false).map(String.init)
        let last = parts.removeLast()
        return parts.joined(separator: word) + other + last
    }
}
