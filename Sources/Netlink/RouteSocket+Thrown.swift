// Thousands of `throw` routes: put in place, taken away and compared without a list of them as routes.

package import Addressing
internal import CNetlink
internal import Linux
internal import NetworkPlan

/// What a table holds.
package struct TableContents: Sendable {
    /// Its routes but for those that throw.
    package var routes: [RouteRecord] = []
    /// Its routes that throw; nil when they were not asked for.
    package var thrown: Fingerprint?
}

extension RouteSocket {
    /// Throws destinations out of a table; those that are thrown already stay so.
    /// - Throws: `NetlinkError` for the first that was refused.
    package func addThrown(_ destinations: [Prefix], table: RouteTable) throws(NetlinkError) {
        let refusals = try executeAll(count: destinations.count, "adding routes") {
            routeRequest(
                Int(RTM_NEWROUTE), flags: NLM_F_CREATE | NLM_F_EXCL, Route(destinations[$0], .thrown, table: table), [:]
            )
        }
        guard let refusal = refusals.first(where: { $0.errno != .exists }) else { return }
        throw NetlinkError(
            "adding route", "throw \(destinations[refusal.position]) table \(table)", refusal.errno,
            kernelText: refusal.text)
    }

    /// Throws destinations no longer; those that are not thrown are no error.
    /// - Throws: `NetlinkError` for the first that was refused.
    package func removeThrown(_ destinations: [Prefix], table: RouteTable) throws(NetlinkError) {
        let refusals = try executeAll(count: destinations.count, "removing routes") {
            routeRequest(Int(RTM_DELROUTE), flags: 0, Route(destinations[$0], .thrown, table: table), [:])
        }
        guard let refusal = refusals.first(where: { !$0.errno.meansAbsent }) else { return }
        throw NetlinkError(
            "removing route", "throw \(destinations[refusal.position]) table \(table)", refusal.errno,
            kernelText: refusal.text)
    }

    /// The destinations a table throws.
    /// - Throws: `NetlinkError`.
    package func thrown(_ family: AddressFamily, table: RouteTable) throws(NetlinkError) -> [Prefix] {
        var found: [Prefix] = []
        try dumpTable(family, table, kind: RTN_THROW) { reply in
            if let record = RouteRecord(reply), record.table == table, record.kind == .thrown {
                found.append(record.destination)
            }
        } restart: {
            found = []
        }
        return found
    }

    /// What a table holds.
    /// - Parameter withThrown: whether to look at the routes that throw; without them the kernel passes over thousands and
    ///   sends the few others.
    /// - Throws: `NetlinkError`.
    package func contents(
        _ family: AddressFamily, table: RouteTable, withThrown: Bool
    ) throws(NetlinkError) -> TableContents {
        var contents = TableContents()
        let empty = withThrown ? Fingerprint() : nil
        contents.thrown = empty
        try dumpTable(family, table, kind: withThrown ? RTN_UNSPEC : RTN_UNICAST) { reply in
            guard let header = reply.header(rtmsg.self), Int(header.rtm_type) == RTN_THROW else {
                if let record = RouteRecord(reply), record.table == table { contents.routes.append(record) }
                return
            }
            let attributes = reply.attributes(after: rtmsg.self)
            guard attributes.value(Int(RTA_TABLE.rawValue)) == table.rawValue,
                let destination = attributes[Int(RTA_DST.rawValue)]
            else { return }
            contents.thrown?.add(destination, header.rtm_dst_len)
        } restart: {
            contents = TableContents(thrown: empty)
        }
        return contents
    }

    /// Lists a table; one that nobody has written to is empty. A kernel without strict checking answers with everything.
    private func dumpTable(
        _ family: AddressFamily, _ table: RouteTable, kind: Int, _ each: (Reply) -> Void, restart: () -> Void
    ) throws(NetlinkError) {
        var header = rtmsg()
        header.rtm_family = family.number
        header.rtm_type = UInt8(kind)
        let request = Request(Int(RTM_GETROUTE), flags: 0, header)
        request.put(Int(RTA_TABLE.rawValue), table.rawValue)
        do throws(NetlinkError) {
            try dump(
                request, "listing", "routes",
                { reply in if Int(reply.type) == Int(RTM_NEWROUTE) { each(reply) } }, restart: restart)
        } catch {
            guard error.errno.meansAbsent else { throw error }
            restart()
        }
    }
}

extension Fingerprint {
    /// Of the routes that throw these destinations.
    package init(thrown destinations: some Sequence<Prefix>) {
        self.init()
        for destination in destinations { add(destination.address.bytes, UInt8(destination.length)) }
    }
}
