// Quota and expiry from the texts providers put among the lines, where no header tells them.

package import Store

/// Reads quota from notes such as `剩余流量：12.5 GB`, `套餐到期：2026-12-31`, `Traffic: 5.1 GB / 100 GB`.
package enum QuotaNotes {
    /// What the notes tell; nil when they tell nothing for certain.
    package static func read(_ notes: [String]) -> Quota? {
        var quota = Quota()
        var left: Int64?
        for note in notes {
            let text = note.lowercased()
            if let expire = expiry(text) { quota.expire = quota.expire ?? expire }
            let sizes = amounts(text)
            if isPair(text), sizes.count == 2, sizes[0] <= sizes[1] {
                quota.download = quota.download ?? sizes[0]
                quota.total = quota.total ?? sizes[1]
            } else if let size = sizes.first, sizes.count == 1 {
                if ["剩余", "left", "remain"].contains(where: text.contains) { left = left ?? size }
                if ["已用", "used"].contains(where: text.contains) { quota.download = quota.download ?? size }
                if ["总流量", "total"].contains(where: text.contains) { quota.total = quota.total ?? size }
            }
        }
        if let left, let total = quota.total, quota.download == nil, total >= left { quota.download = total - left }
        // Only what is left: shown as a plan of that size of which nothing is used.
        if let left, quota.total == nil, quota.download == nil {
            quota.total = left
            quota.download = 0
        }
        return quota == Quota() ? nil : quota
    }

    private static func isPair(_ text: String) -> Bool {
        (text.contains("/") || text.contains("|"))
            && ["流量", "traffic", "bandwidth", "data", "usage", "已用"].contains(where: text.contains)
    }

    private static func expiry(_ text: String) -> Int64? {
        guard ["到期", "过期", "有效期", "expire", "expiry"].contains(where: text.contains) else { return nil }
        let characters = Array(text)
        for start in characters.indices where characters[start].isASCII && characters[start].isNumber {
            if start > 0, characters[start - 1].isASCII, characters[start - 1].isNumber { continue }
            if let date = ProviderDetails.civil(String(characters[start...].prefix(12))) { return date }
        }
        return nil
    }

    /// The sizes in a text, in bytes: `12.5 GB`, `100G`, `1TiB`; units count in 1024s, as panels do.
    private static func amounts(_ text: String) -> [Int64] {
        let units: [(Character, Double)] = [
            ("k", 1024), ("m", 1_048_576), ("g", 1_073_741_824), ("t", 1_099_511_627_776), ("p", 1_125_899_906_842_624),
        ]
        let characters = Array(text)
        var found: [Int64] = []
        var at = 0
        while at < characters.count {
            guard characters[at].isASCII, characters[at].isNumber else {
                at += 1
                continue
            }
            let start = at
            while at < characters.count, characters[at] == "." || (characters[at].isASCII && characters[at].isNumber) {
                at += 1
            }
            let number = Double(String(characters[start..<at]))
            while at < characters.count, characters[at] == " " { at += 1 }
            guard at < characters.count, let number, let unit = units.first(where: { $0.0 == characters[at] }) else {
                continue
            }
            let next = at + 1 < characters.count ? characters[at + 1] : " "
            // `5 m` of `5 minutes` is no size.
            guard next == "b" || next == "i" || !next.isLetter || !next.isASCII, number * unit.1 < 9e18 else {
                continue
            }
            found.append(Int64(number * unit.1))
        }
        return found
    }
}
