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
        let leaving = "oifname != { \"lo\", \"\(Reserved.link)\" }"
        var lines = ["table inet \(Reserved.domesticTable) {", "\tflags owner", ""]
        for set in sets { lines += set.lines.map { "\t" + $0 } + [""] }
        lines += ["\tchain marking {", "\t\ttype filter hook output priority filter - 1; policy accept;"]
        lines += sets.map {
            "\t\t\(leaving) \($0.matchesDestination) meta mark set \(Reserved.domesticMark)"
        }
        lines += ["\t}", "", "\tchain unmarking {", "\t\ttype filter hook output priority filter + 1; policy accept;"]
        lines += ["\t\tmeta mark \(Reserved.domesticMark) meta mark set 0x00000000", "\t}", "}"]
        return lines.joined(separator: "\n") + "\n"
    }
}
