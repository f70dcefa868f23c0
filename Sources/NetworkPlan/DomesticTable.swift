// The table that lets domestic destinations pass the guard, in nft's own listing form.

package import Addressing

/// The nft table that marks what goes to domestic destinations right before the guard sees it, and takes the mark away right
/// after. It is gone with the worker: a guard that outlives it is closed for domestic traffic, too. A mark that another program
/// gave such a packet is lost on the way; it has been routed by then.
package enum DomesticTable {
    /// The set that holds the destinations. It comes empty: thousands of elements are put in by `NetfilterSet`.
    package static func set(_ family: AddressFamily) -> String { NftSet.name("domestic", family) }

    /// The table as nft lists it (libnftables 1.0.6).
    package static var text: String {
        let sets = NftSet.pair("domestic", [])
        let mark = "meta mark set \(Reserved.domesticMark)"
        let rules = [
            // A connection is looked up in thousands of prefixes once.
            "ct mark \(Reserved.domesticConnection) \(mark) accept",
            "oifname { \"lo\", \"\(Reserved.link)\" } accept",
            // The guard lets no question to a resolver pass.
            "meta l4proto { tcp, udp } th dport { \(Port.dns), \(Port.dnsOverTLS) } accept",
        ]
        var lines = ["table inet \(Reserved.domesticTable) {", "\tflags owner", ""]
        for set in sets { lines += set.lines.map { "\t" + $0 } + [""] }
        lines += ["\tchain marking {", "\t\ttype filter hook output priority filter - 1; policy accept;"]
        lines += (rules + sets.map { "\($0.matchesDestination) \(mark)" }).map { "\t\t" + $0 }
        lines += [
            "\t\tmeta mark \(Reserved.domesticMark) ct mark 0x00000000 ct mark set \(Reserved.domesticConnection)"
        ]
        lines += ["\t}", "", "\tchain unmarking {", "\t\ttype filter hook output priority filter + 1; policy accept;"]
        lines += ["\t\tmeta mark \(Reserved.domesticMark) meta mark set 0x00000000", "\t}", "}"]
        return lines.joined(separator: "\n") + "\n"
    }
}
