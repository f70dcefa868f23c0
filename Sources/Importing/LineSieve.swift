// Finding every line the engine refuses, when there are many: its check names one a run, so the runs are made small.

import JSON
import Profiles

/// Looks at the lines of a profile in groups. `check` needs none of what a line refers to but its resolver, costs some
/// 40 ms a run and 40 µs a line, and names the first line at fault: that many groups and that many refused lines are the
/// runs it takes.
struct LineSieve {
    /// A line or helper to take out, and the engine's words.
    struct Refused {
        var tag: String
        var type: String
        var words: String
    }

    /// Lines in a group.
    static let group = 256

    private let profile: JSON
    private let now: () -> Int
    private let end: Int
    private let check: (JSON) throws -> String?

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - end: when to stop; of the lines not looked at by then those of a type that was refused count as refused.
    ///   - check: what the engine has against a configuration; nil for nothing.
    init(_ profile: JSON, now: @escaping () -> Int, end: Int, check: @escaping (JSON) throws -> String?) {
        self.profile = profile
        self.now = now
        self.end = end
        self.check = check
    }

    private struct Item {
        var object: JSON
        var isEndpoint: Bool
    }

    /// The refused lines, in the profile's order within a group.
    func refused() throws -> [Refused] {
        let own: Set<String> = ["selector", "urltest", "direct"]
        let outbounds = profile["outbounds"].listed.filter { !own.contains($0["type"].string ?? "") }
        let items =
            outbounds.map { Item(object: $0, isEndpoint: false) }
            + profile["endpoints"].listed.map { Item(object: $0, isEndpoint: true) }
        var refused: [Refused] = []
        for start in stride(from: 0, to: items.count, by: Self.group) {
            try sift(Array(items[start..<min(start + Self.group, items.count)]), &refused)
        }
        return refused
    }

    private func sift(_ group: [Item], _ refused: inout [Refused]) throws {
        var group = group
        func refuse(_ item: Item, _ words: String) {
            refused.append(
                Refused(
                    tag: item.object["tag"].string ?? "", type: item.object["type"].string ?? "", words: words))
        }
        while !group.isEmpty {
            guard now() < end else {
                // One more check of the whole profile judges the others.
                let types = Set(refused.map(\.type))
                for item in group where types.contains(item.object["type"].string ?? "") {
                    refuse(item, "not checked: the engine refuses too many lines of this type")
                }
                return
            }
            guard let words = try check(configuration(of: group)) else { return }
            if let at = Self.position(KernelComplaint(words), in: group) {
                refuse(group.remove(at: at), words)
            } else if group.count == 1 {
                return refuse(group[0], words)
            } else {
                // It does not say which: by halves.
                try sift(Array(group[..<(group.count / 2)]), &refused)
                group.removeFirst(group.count / 2)
            }
        }
    }

    /// Where the object stands that the engine names.
    private static func position(_ complaint: KernelComplaint, in group: [Item]) -> Int? {
        let (number, isEndpoint): (Int, Bool)
        switch complaint {
        case .outbound(let at): (number, isEndpoint) = (at, false)
        case .endpoint(let at): (number, isEndpoint) = (at, true)
        case .tag(let tag): return group.firstIndex { $0.object["tag"].string == tag }
        default: return nil
        }
        let places = group.indices.filter { group[$0].isEndpoint == isEndpoint }
        return places.indices.contains(number) ? places[number] : nil
    }

    private func configuration(of group: [Item]) -> JSON {
        let resolver = profile["dns"]["servers"].listed.filter { $0["tag"].string == ProfileTag.directResolver }
        return [
            "dns": ["servers": .array(resolver)],
            "outbounds": .array(group.filter { !$0.isEndpoint }.map(\.object)),
            "endpoints": .array(group.filter(\.isEndpoint).map(\.object)),
            "route": ["default_domain_resolver": .string(ProfileTag.directResolver)],
        ]
    }
}
