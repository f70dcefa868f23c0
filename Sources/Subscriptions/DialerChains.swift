// Whom each node is dialled through (`mapping.md` 5.1): never directly instead, never in a circle.

internal import ImportReport
internal import JSON

/// Resolves `dialer-proxy` for a list of nodes.
struct DialerChains {
    private let nodes: [ConvertedNode]
    private let groups: DialerGroups
    private var byName: [String: Int] = [:]
    /// The node each node is dialled through.
    private(set) var target: [Int?]
    /// Why a node cannot be dialled.
    private(set) var faults: [DropReason?]
    /// Nodes whose dialler came out of a group.
    private(set) var flattened: Set<Int> = []
    /// How many group members may still be looked at; a hostile profile must not buy more work than this.
    private var fuel = 2_000_000

    init(_ nodes: [ConvertedNode], groups: DialerGroups) {
        self.nodes = nodes
        self.groups = groups
        target = Array(repeating: nil, count: nodes.count)
        faults = Array(repeating: nil, count: nodes.count)
        guard nodes.contains(where: { $0.dialer != nil }) else { return }
        for (index, node) in nodes.enumerated() where byName[node.rawName] == nil { byName[node.rawName] = index }
        settle(Array(nodes.indices))
        for _ in 0..<20 {
            let members = cycleMembers()
            if members.isEmpty { break }
            for index in members { faults[index] = .dialerCycle }
            settle(dependents(of: Set(members)))
        }
        for index in cycleMembers() { faults[index] = .dialerCycle }
        for index in nodes.indices where faults[index] == nil {
            if let through = target[index], needsUDP(nodes[index]), !carriesUDP(nodes[through]) {
                faults[index] = .dialerNoUDP
            }
        }
        settle(dependents(of: Set(nodes.indices.filter { faults[$0] != nil })))
        // Whatever still leads to a dropped node after all this goes as well.
        var queue = nodes.indices.filter { faults[$0] != nil }
        let users = usersOfTargets()
        while let index = queue.popLast() {
            for user in users[index] ?? [] where faults[user] == nil {
                faults[user] = .dialerUnresolved
                queue.append(user)
            }
        }
    }

    private func usersOfTargets() -> [Int: [Int]] {
        var users: [Int: [Int]] = [:]
        for (index, through) in target.enumerated() {
            if let through { users[through, default: []].append(index) }
        }
        return users
    }

    private func dependents(of dropped: Set<Int>) -> [Int] {
        target.indices.filter { index in faults[index] == nil && target[index].map(dropped.contains) == true }
    }

    /// Resolves these nodes, and those that depended on one that is thereby lost, until nothing changes.
    private mutating func settle(_ start: [Int]) {
        var users = usersOfTargets()
        var queue = start
        while let index = queue.popLast() {
            guard faults[index] == nil, let dialer = nodes[index].dialer else { continue }
            let upper = dialer.trimmed.uppercased()
            if upper == "DIRECT" || upper == "COMPATIBLE" {
                target[index] = nil
                continue
            }
            if let found = resolve(dialer, for: index) {
                target[index] = found
                users[found, default: []].append(index)
            } else {
                target[index] = nil
                faults[index] = .dialerUnresolved
                queue.append(contentsOf: (users[index] ?? []).filter { target[$0] == index })
            }
        }
    }

    private mutating func resolve(_ name: String, for index: Int) -> Int? {
        if let found = byName[name] {
            flattened.remove(index)
            return faults[found] == nil ? found : nil
        }
        guard fuel > 0, let lists = groups[name] else { return nil }
        var visited: Set<String> = [name]
        var stack = lists.reversed().map { $0[...] }
        while var members = stack.popLast() {
            guard let member = members.popFirst() else { continue }
            stack.append(members)
            fuel -= 1
            guard fuel > 0 else { return nil }
            if let found = byName[member] {
                if faults[found] == nil, found != index {
                    flattened.insert(index)
                    return found
                }
            } else if !visited.contains(member), let inner = groups[member] {
                visited.insert(member)
                stack.append(contentsOf: inner.reversed().map { $0[...] })
            }
        }
        return nil
    }

    /// All nodes that stand on a circle.
    private func cycleMembers() -> [Int] {
        var mark = Array(repeating: 0, count: nodes.count)
        var members: [Int] = []
        for start in nodes.indices where mark[start] == 0 {
            var path: [Int] = []
            var at: Int? = start
            while let index = at, mark[index] == 0, faults[index] == nil {
                mark[index] = 1
                path.append(index)
                at = target[index]
            }
            if let index = at, mark[index] == 1, let from = path.firstIndex(of: index) { members += path[from...] }
            for index in path { mark[index] = 2 }
        }
        return members.sorted()
    }

    private func needsUDP(_ node: ConvertedNode) -> Bool {
        ["hysteria", "hysteria2", "tuic", "wireguard"].contains(node.type)
    }

    private func carriesUDP(_ node: ConvertedNode) -> Bool {
        !["http", "ssh"].contains(node.type) && node.outbound["network"] != "tcp"
    }
}
