// Unique tags, at a constant cost each.

/// Hands out tags that are not yet taken.
struct TagPool {
    private var used: Set<String>
    private var nextNumber: [String: Int] = [:]

    init(reserved: Set<String>) { used = reserved }

    /// The tag itself, or with ` #2`, ` #3` … after it when it is taken.
    mutating func take(_ tag: String) -> String {
        if used.insert(tag).inserted { return tag }
        var number = nextNumber[tag] ?? 2
        while !used.insert("\(tag) #\(number)").inserted { number += 1 }
        nextNumber[tag] = number + 1
        return "\(tag) #\(number)"
    }
}
