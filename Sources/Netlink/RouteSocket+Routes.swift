// Routes: adding and removing, one or thousands, and listing. As `ip route` does.

package import Addressing
internal import CNetlink
internal import Linux
package import NetworkPlan

/// A route as the kernel describes it, of what is needed here.
package struct RouteRecord: Hashable, Sendable {
    /// What it leads to.
    package let destination: Prefix
    /// The table it is in.
    package let table: RouteTable
    /// The link it leaves by; nil for routes that lead nowhere and for multipath routes.
    package let link: InterfaceIndex?
    /// The next hop; nil when on the link.
    package let gateway: IPAddress?
    /// Unicast, throw, unreachable and so on.
    package let kind: Kind
    /// 0 when it has none.
    package let metric: UInt32

    /// What a route does (rtm_type).
    package enum Kind: Hashable, Sendable {
        case unicast, local, thrown, unreachable, other(UInt8)
    }
}

/// The indexes of links by name, for turning routes into requests and back.
package typealias LinkTable = [InterfaceName: InterfaceIndex]

extension RouteSocket {
    /// The names and indexes of all links whose names this program can hold.
    package func linkTable() throws(NetlinkError) -> LinkTable {
        var table: LinkTable = [:]
        for link in try links() { if let name = InterfaceName(link.name) { table[name] = link.index } }
        return table
    }

    /// Adds routes, many to a datagram; those that exist are left as they are.
    /// - Returns: how many were added.
    /// - Throws: `NetlinkError` for the first that was refused; the others of its kind are in place.
    @discardableResult
    package func add(_ routes: [Route], links: LinkTable) throws(NetlinkError) -> Int {
        try checkLinks(of: routes, links)
        let refusals = try executeAll(count: routes.count, "adding routes") {
            routeRequest(Int(RTM_NEWROUTE), flags: NLM_F_CREATE | NLM_F_EXCL, routes[$0], links)
        }
        if let refusal = refusals.first(where: { $0.errno != .exists }) {
            throw NetlinkError(
                "adding route", routes[refusal.position].description, refusal.errno, kernelText: refusal.text)
        }
        return routes.count - refusals.count
    }

    /// Removes routes, many to a datagram; those that are not there are no error.
    /// - Returns: how many were removed.
    @discardableResult
    package func remove(_ routes: [Route], links: LinkTable) throws(NetlinkError) -> Int {
        // A link that is gone took its routes along.
        let present = routes.filter { $0.link.map { links[$0] != nil } ?? true }
        let refusals = try executeAll(count: present.count, "removing routes") {
            routeRequest(Int(RTM_DELROUTE), flags: 0, present[$0], links)
        }
        if let refusal = refusals.first(where: { !$0.errno.meansAbsent }) {
            throw NetlinkError(
                "removing route", present[refusal.position].description, refusal.errno, kernelText: refusal.text)
        }
        return present.count - refusals.count
    }

    private func checkLinks(of routes: [Route], _ links: LinkTable) throws(NetlinkError) {
        for route in routes {
            guard let link = route.link, links[link] == nil else { continue }
            throw NetlinkError("adding route", route.description, .noSuchDevice, kernelText: "no link \(link)")
        }
    }

    func routeRequest(_ type: Int, flags: Int32, _ route: Route, _ links: LinkTable) -> Request {
        var header = rtmsg()
        header.rtm_family = route.family.number
        header.rtm_dst_len = UInt8(route.destination.length)
        // Tables above 255 travel in the attribute; the header then says nothing.
        header.rtm_table = UInt8(RT_TABLE_UNSPEC.rawValue)
        let isNew = type == Int(RTM_NEWROUTE)
        header.rtm_protocol = isNew ? UInt8(RTPROT_BOOT) : 0
        header.rtm_type = UInt8(route.target.number)
        header.rtm_scope = UInt8((isNew ? route.target.scope : RT_SCOPE_NOWHERE).rawValue)
        let request = Request(type, flags: flags, header)
        request.put(Int(RTA_TABLE.rawValue), route.table.rawValue)
        if !route.destination.isDefault { request.put(Int(RTA_DST.rawValue), bytes: route.destination.address.bytes) }
        if let metric = route.metric { request.put(Int(RTA_PRIORITY.rawValue), metric) }
        if case .gateway(let address, _) = route.target { request.put(Int(RTA_GATEWAY.rawValue), bytes: address.bytes) }
        if let index = route.link.flatMap({ links[$0] }) {
            request.put(Int(RTA_OIF.rawValue), UInt32(bitPattern: index.rawValue))
        }
        return request
    }

    /// The routes of a table, or of all tables, of one family.
    package func routes(_ family: AddressFamily, table: RouteTable? = nil) throws(NetlinkError) -> [RouteRecord] {
        var routes: [RouteRecord] = []
        var header = rtmsg()
        header.rtm_family = family.number
        let request = Request(Int(RTM_GETROUTE), flags: 0, header)
        if let table { request.put(Int(RTA_TABLE.rawValue), table.rawValue) }
        do throws(NetlinkError) {
            try dump(request, "listing", "routes") { reply in
                // A kernel without strict checking answers with every table.
                if let route = RouteRecord(reply), table == nil || route.table == table { routes.append(route) }
            } restart: {
                routes = []
            }
        } catch {
            // A table nobody has written to yet does not exist.
            guard table != nil, error.errno.meansAbsent else { throw error }
            return []
        }
        return routes
    }
}

extension Route.Target {
    /// RTN_*.
    fileprivate var number: Int {
        switch self {
        case .gateway, .device: RTN_UNICAST
        case .local: RTN_LOCAL
        case .thrown: RTN_THROW
        case .unreachable: RTN_UNREACHABLE
        }
    }

    /// How far the destination is (rtnetlink(7)).
    fileprivate var scope: rt_scope_t {
        switch self {
        case .gateway, .thrown, .unreachable: RT_SCOPE_UNIVERSE
        case .device: RT_SCOPE_LINK
        case .local: RT_SCOPE_HOST
        }
    }
}

extension RouteRecord {
    init?(_ reply: Reply) {
        guard Int(reply.type) == Int(RTM_NEWROUTE), let header = reply.header(rtmsg.self),
            let family = AddressFamily(number: header.rtm_family),
            // Cached exceptions are not routes.
            header.rtm_flags & UInt32(RTM_F_CLONED) == 0
        else { return nil }
        let attributes = reply.attributes(after: rtmsg.self)
        let address = attributes[Int(RTA_DST.rawValue)].flatMap { IPAddress(bytes: $0) } ?? .unspecified(family)
        guard let destination = Prefix(containing: address, length: Int(header.rtm_dst_len)) else { return nil }
        self.destination = destination
        table = RouteTable(rawValue: attributes.value(Int(RTA_TABLE.rawValue)) ?? UInt32(header.rtm_table))
        link = attributes.value(Int(RTA_OIF.rawValue), as: Int32.self).map(InterfaceIndex.init(rawValue:))
        gateway = attributes[Int(RTA_GATEWAY.rawValue)].flatMap { IPAddress(bytes: $0) }
        metric = attributes.value(Int(RTA_PRIORITY.rawValue)) ?? 0
        kind =
            switch Int(header.rtm_type) {
            case RTN_UNICAST: .unicast
            case RTN_LOCAL: .local
            case RTN_THROW: .thrown
            case RTN_UNREACHABLE: .unreachable
            default: .other(header.rtm_type)
            }
    }

    /// The route as a plan writes it; nil when a plan has no such route.
    /// - Parameter names: the links' names by index.
    package func planned(names: [InterfaceIndex: InterfaceName]) -> Route? {
        let name = link.flatMap { names[$0] }
        let target: Route.Target
        switch kind {
        case .thrown: target = .thrown
        case .unreachable: target = .unreachable
        case .local:
            guard let name else { return nil }
            target = .local(name)
        case .unicast:
            guard let name else { return nil }
            target = gateway.map { .gateway($0, name) } ?? .device(name)
        case .other: return nil
        }
        // The metric IPv6 gives a route that asked for none.
        let chosen: UInt32 = destination.family == .ipv6 ? 1024 : 0
        return Route(destination, target, table: table, metric: metric == chosen ? nil : metric)
    }
}

extension RouteSocket {
    /// Removes a route that was read, whatever its kind.
    @discardableResult
    package func remove(_ route: RouteRecord) throws(NetlinkError) -> Removal {
        var header = rtmsg()
        header.rtm_family = route.destination.family.number
        header.rtm_dst_len = UInt8(route.destination.length)
        header.rtm_scope = UInt8(RT_SCOPE_NOWHERE.rawValue)
        let request = Request(Int(RTM_DELROUTE), flags: 0, header)
        request.put(Int(RTA_TABLE.rawValue), route.table.rawValue)
        if !route.destination.isDefault { request.put(Int(RTA_DST.rawValue), bytes: route.destination.address.bytes) }
        if route.metric != 0 { request.put(Int(RTA_PRIORITY.rawValue), route.metric) }
        if let link = route.link { request.put(Int(RTA_OIF.rawValue), UInt32(bitPattern: link.rawValue)) }
        if let gateway = route.gateway { request.put(Int(RTA_GATEWAY.rawValue), bytes: gateway.bytes) }
        return try removal { () throws(NetlinkError) in
            try execute(request, "removing route", "\(route.destination) from table \(route.table)")
        }
    }
}
