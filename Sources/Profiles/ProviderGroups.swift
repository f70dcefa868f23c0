// Where the names in a provider's rules lead: to a line, to the selector, direct, or to a refusal.

import JSON

/// What becomes of traffic that a rule sends to a name.
enum RouteTarget: Hashable {
    /// A line, by the tag the document uses.
    case line(String)
    /// The selector.
    case proxy
    case direct
    case reject
    /// Nothing has that name.
    case missing
}

/// The outbounds of a provider's document, asked by tag.
///
/// The provider's groups are not built: there is one selector. A rule that names a group gets what the group would
/// choose at first: `direct` and a refusal are kept, a line or a urltest becomes the selector.
struct ProviderGroups {
    private struct Group {
        var type: String
        var members: [String]
        var first: String?
    }

    private var groups: [String: Group] = [:]
    private var routes: [String: RouteTarget] = [:]
    private var dialers: [String: RouteTarget] = [:]

    /// - Parameter document: nil or anything without outbounds has no names at all.
    init(_ document: JSON?) {
        guard let document else { return }
        for outbound in document["outbounds"].listed + document["endpoints"].listed {
            guard let tag = outbound["tag"].string, let type = outbound["type"].string, groups[tag] == nil else {
                continue
            }
            let members = outbound["outbounds"].listed.compactMap(\.string)
            let chosen = outbound["default"].string.flatMap { members.contains($0) ? $0 : nil }
            groups[tag] = Group(type: type, members: members, first: chosen ?? members.first)
        }
        for tag in groups.keys { routes[tag] = followFirst(tag) }
        for tag in groups.keys { _ = firstLine(tag) }
    }

    /// What a rule that names this outbound gets.
    func route(_ tag: String) -> RouteTarget { routes[tag] ?? .missing }

    /// What a line that names this as its detour is dialled through: the first line, depth first, or direct.
    func dialer(_ tag: String) -> RouteTarget { dialers[tag] ?? .missing }

    private static func simple(_ type: String) -> RouteTarget? {
        switch type {
        case "direct": .direct
        case "block": .reject
        case "urltest": .proxy
        default: nil
        }
    }

    /// Follows first choices; remembers the answer for all on the way, so that long chains stay linear.
    private mutating func followFirst(_ start: String) -> RouteTarget {
        var path: [String] = []
        var seen: Set<String> = []
        var at = start
        var answer = RouteTarget.missing
        while true {
            if let known = routes[at] {
                answer = known
                break
            }
            guard let group = groups[at], seen.insert(at).inserted else { break }
            path.append(at)
            if let simple = Self.simple(group.type) {
                answer = simple
                break
            }
            guard group.type == "selector" else {
                answer = .line(at)
                break
            }
            guard let first = group.first else { break }
            at = first
        }
        // A selector's choice of a line is the user's to change: it becomes the selector.
        for tag in path {
            if case .line(let line) = answer, line != tag { routes[tag] = .proxy } else { routes[tag] = answer }
        }
        if case .line(let line) = answer, line != start { return .proxy }
        return answer
    }

    /// The first member that is a line, depth first; iterative and with a memory, so that nested groups stay linear.
    private mutating func firstLine(_ start: String) -> RouteTarget {
        if let known = dialers[start] { return known }
        var stack: [(tag: String, next: Int)] = [(start, 0)]
        var open: Set<String> = [start]
        while let top = stack.last {
            guard let group = groups[top.tag] else {
                dialers[top.tag] = .missing
                stack.removeLast()
                continue
            }
            if group.type != "selector", group.type != "urltest" {
                dialers[top.tag] = Self.simple(group.type) ?? .line(top.tag)
                stack.removeLast()
                continue
            }
            guard top.next < group.members.count else {
                dialers[top.tag] = .missing
                stack.removeLast()
                continue
            }
            let member = group.members[top.next]
            if let known = dialers[member] {
                switch known {
                case .line, .direct:
                    dialers[top.tag] = known
                    stack.removeLast()
                default: stack[stack.count - 1].next += 1
                }
            } else if open.insert(member).inserted {
                stack.append((member, 0))
            } else {
                stack[stack.count - 1].next += 1
            }
        }
        return dialers[start] ?? .missing
    }
}
