// Policy routing rules: adding, removing, listing, with the selectors libnl-route does not know. As `ip rule` does.

package import Addressing
internal import CNetlink
package import NetworkPlan

/// A rule as the kernel describes it.
package struct RuleRecord: Hashable, Sendable, CustomStringConvertible {
    /// IPv4 or IPv6.
    package let family: AddressFamily
    /// Its place; lower ones are asked first.
    package let priority: RulePriority
    /// The table it looks into, if that is what it does.
    package let table: RouteTable?
    /// The rule as a plan writes it; nil when it holds something no plan of ours has, such as `oif` or `not`.
    package let planned: RoutingRule?
    /// Whether it is about packets with a mark only.
    package let wantsMark: Bool

    /// As `ip rule` shows it, without what no plan of ours has.
    package var description: String {
        planned?.description ?? "\(priority): …" + (table.map { " lookup \($0)" } ?? "")
    }
}

extension RouteSocket {
    /// Adds a rule. `ip rule add …`
    @discardableResult
    package func add(_ rule: RoutingRule) throws(NetlinkError) -> Addition {
        let request = ruleRequest(Int(RTM_NEWRULE), flags: NLM_F_CREATE | NLM_F_EXCL, rule)
        return try addition { () throws(NetlinkError) in
            try execute(request, "adding rule", rule.description)
        }
    }

    /// Removes a rule. The kernel compares only what the request names, so every selector is named.
    @discardableResult
    package func remove(_ rule: RoutingRule) throws(NetlinkError) -> Removal {
        let request = ruleRequest(Int(RTM_DELRULE), flags: 0, rule)
        return try removal { () throws(NetlinkError) in
            try execute(request, "removing rule", rule.description)
        }
    }

    private func ruleRequest(_ type: Int, flags: Int32, _ rule: RoutingRule) -> Request {
        var header = fib_rule_hdr()
        header.family = rule.family.number
        header.src_len = UInt8(rule.source?.length ?? 0)
        header.dst_len = UInt8(rule.destination?.length ?? 0)
        header.table = UInt8(RT_TABLE_UNSPEC.rawValue)
        header.action = rule.action.number
        let request = Request(type, flags: flags, header)
        request.put(Int(FRA_PRIORITY), rule.priority.rawValue)
        if let source = rule.source { request.put(Int(FRA_SRC), bytes: source.address.bytes) }
        if let destination = rule.destination { request.put(Int(FRA_DST), bytes: destination.address.bytes) }
        if let mark = rule.mark { request.put(Int(FRA_FWMARK), mark.rawValue) }
        if let incoming = rule.incoming { request.put(Int(FRA_IIFNAME), incoming.description) }
        if let users = rule.users {
            let range = fib_rule_uid_range(start: users.first.rawValue, end: users.last.rawValue)
            request.put(Int(FRA_UID_RANGE), bytes: withUnsafeBytes(of: range) { Array($0) })
        }
        if let transport = rule.transport { request.put(Int(FRA_IP_PROTO), transport.rawValue) }
        if let port = rule.sourcePort { request.put(Int(FRA_SPORT_RANGE), bytes: Self.range(port)) }
        if let port = rule.destinationPort { request.put(Int(FRA_DPORT_RANGE), bytes: Self.range(port)) }
        switch rule.action {
        case .lookup(let table, let length):
            request.put(Int(FRA_TABLE), table.rawValue)
            if let length { request.put(Int(FRA_SUPPRESS_PREFIXLEN), UInt32(length)) }
        case .goto(let priority): request.put(Int(FRA_GOTO), priority.rawValue)
        case .nop: break
        }
        return request
    }

    private static func range(_ port: Port) -> [UInt8] {
        let range = fib_rule_port_range(start: port.rawValue, end: port.rawValue)
        return withUnsafeBytes(of: range) { Array($0) }
    }

    /// The rules of a family, in the order the kernel looks at them.
    package func rules(_ family: AddressFamily) throws(NetlinkError) -> [RuleRecord] {
        var rules: [RuleRecord] = []
        var header = fib_rule_hdr()
        header.family = family.number
        let request = Request(Int(RTM_GETRULE), flags: 0, header)
        try dump(request, "listing", "rules") { reply in
            if let rule = RuleRecord(reply) { rules.append(rule) }
        } restart: {
            rules = []
        }
        return rules
    }
}

extension RoutingRule.Action {
    /// FR_ACT_*.
    fileprivate var number: UInt8 {
        switch self {
        case .lookup: UInt8(FR_ACT_TO_TBL)
        case .goto: UInt8(FR_ACT_GOTO)
        case .nop: UInt8(FR_ACT_NOP)
        }
    }
}

extension RuleRecord {
    init?(_ reply: Reply) {
        guard Int(reply.type) == Int(RTM_NEWRULE), let header = reply.header(fib_rule_hdr.self),
            let family = AddressFamily(number: header.family)
        else { return nil }
        let attributes = reply.attributes(after: fib_rule_hdr.self)
        let priority = RulePriority(rawValue: attributes.value(Int(FRA_PRIORITY)) ?? 0)
        self.family = family
        self.priority = priority
        let action = Self.action(header, attributes)
        if case .lookup(let table, _) = action { self.table = table } else { table = nil }
        // Without a mark to match there is no such attribute.
        wantsMark = attributes[Int(FRA_FWMARK)] != nil && header.flags & UInt32(FIB_RULE_INVERT) == 0
        planned = action.flatMap { Self.planned(family, priority, header, attributes, $0) }
    }

    private static func action(_ header: fib_rule_hdr, _ attributes: Attributes) -> RoutingRule.Action? {
        switch Int(header.action) {
        case Int(FR_ACT_TO_TBL):
            let table = attributes.value(Int(FRA_TABLE), as: UInt32.self) ?? UInt32(header.table)
            let length = attributes.value(Int(FRA_SUPPRESS_PREFIXLEN), as: Int32.self) ?? -1
            return .lookup(RouteTable(rawValue: table), suppressingLength: length < 0 ? nil : Int(length))
        case Int(FR_ACT_GOTO):
            return attributes.value(Int(FRA_GOTO), as: UInt32.self).map { .goto(RulePriority(rawValue: $0)) }
        case Int(FR_ACT_NOP): return .nop
        default: return nil
        }
    }

    private static func planned(
        _ family: AddressFamily, _ priority: RulePriority, _ header: fib_rule_hdr, _ attributes: Attributes,
        _ action: RoutingRule.Action
    ) -> RoutingRule? {
        let isForeign = [FRA_OIFNAME, FRA_TUN_ID, FRA_FLOW].contains { attributes[Int($0)] != nil }
        let isL3 = attributes.value(Int(FRA_L3MDEV), as: UInt8.self) ?? 0 != 0
        let isInverted = header.flags & UInt32(FIB_RULE_INVERT) != 0
        guard !isForeign, !isL3, !isInverted, header.tos == 0 else { return nil }
        var rule = RoutingRule(family, priority, action: action)
        if header.src_len > 0 {
            guard let source = prefix(attributes[Int(FRA_SRC)], header.src_len) else { return nil }
            rule.source = source
        }
        if header.dst_len > 0 {
            guard let destination = prefix(attributes[Int(FRA_DST)], header.dst_len) else { return nil }
            rule.destination = destination
        }
        if let mark: UInt32 = attributes.value(Int(FRA_FWMARK)) {
            guard attributes.value(Int(FRA_FWMASK)) ?? UInt32.max == UInt32.max else { return nil }
            rule.mark = FirewallMark(rawValue: mark)
        }
        if let name = attributes.string(Int(FRA_IIFNAME)) {
            guard let incoming = InterfaceName(name) else { return nil }
            rule.incoming = incoming
        }
        if let range: fib_rule_uid_range = attributes.value(Int(FRA_UID_RANGE)) {
            rule.users = UserIDRange(
                first: UserID(rawValue: range.start), last: UserID(rawValue: range.end))
        }
        if let number: UInt8 = attributes.value(Int(FRA_IP_PROTO)) {
            guard let transport = TransportProtocol(rawValue: number) else { return nil }
            rule.transport = transport
        }
        do {
            rule.sourcePort = try port(attributes.value(Int(FRA_SPORT_RANGE)))
            rule.destinationPort = try port(attributes.value(Int(FRA_DPORT_RANGE)))
        } catch { return nil }
        return rule
    }

    private static func prefix(_ bytes: UnsafeRawBufferPointer?, _ length: UInt8) -> Prefix? {
        bytes.flatMap { IPAddress(bytes: $0) }.flatMap { Prefix(containing: $0, length: Int(length)) }
    }

    private struct NotOnePort: Error {}

    private static func port(_ range: fib_rule_port_range?) throws(NotOnePort) -> Port? {
        guard let range else { return nil }
        guard range.start == range.end else { throw NotOnePort() }
        return Port(rawValue: range.start)
    }
}
