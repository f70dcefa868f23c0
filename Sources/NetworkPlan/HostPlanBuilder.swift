// Builds the host plan from what is wanted and what was seen on the host; every row of it answers a failure that was seen.

package import Addressing

/// What is wanted of the tunnel, and what was seen on the host.
package struct HostPlanRequest: Hashable, Sendable {
    /// The user the engine runs as.
    package var engine: UserID
    /// The user systemd-resolved runs as, where it is installed.
    package var resolver: UserID?
    /// The user whose traffic is asked about when the kernel is asked where it goes; nil for this process's own.
    package var user: UserID?
    /// The addresses of the link.
    package var addresses: LinkAddresses
    /// The networks the host is on.
    package var onLink: [Prefix]
    /// The guard's lifetime; nil where nft is missing.
    package var guardLifetime: GuardTable.Lifetime?
    /// Destinations that never enter the engine (Rule mode); empty otherwise. Sorted, none inside another.
    package var domestic: [Prefix]
    /// False when the kernel runs without IPv6: then there is nothing to take in.
    package var hasIPv6: Bool
    /// The MTU of the link, in bytes: 1500, or large where everything goes through the TUN.
    package var mtu: UInt32

    /// A request.
    package init(
        engine: UserID, resolver: UserID? = nil, user: UserID? = nil, addresses: LinkAddresses, onLink: [Prefix],
        guardLifetime: GuardTable.Lifetime?, domestic: [Prefix] = [], hasIPv6: Bool = true,
        mtu: UInt32 = HostPlanRequest.ordinaryMTU
    ) {
        self.engine = engine
        self.resolver = resolver
        self.user = user
        self.addresses = addresses
        self.onLink = onLink
        self.guardLifetime = guardLifetime
        self.domestic = domestic
        self.hasIPv6 = hasIPv6
        self.mtu = mtu
    }

    /// The MTU where TCP is redirected and never sees the link.
    package static let ordinaryMTU: UInt32 = 1500
    /// The MTU where nft is missing and the TUN carries all (the largest a veth takes).
    package static let tunOnlyMTU: UInt32 = 65535
}

/// Builds host plans.
package enum HostPlanBuilder {
    /// The whole plan for a connected tunnel.
    package static func plan(_ request: HostPlanRequest) -> HostPlan {
        let families: [AddressFamily] = request.hasIPv6 ? [.ipv4, .ipv6] : [.ipv4]
        return HostPlan(
            link: LinkPlan(
                name: Reserved.link, hardwareAddress: Reserved.linkHardwareAddress, peer: Reserved.peer,
                peerHardwareAddress: Reserved.peerHardwareAddress, mtu: request.mtu,
                addresses: families.map(request.addresses.host),
                neighbours: families.map {
                    Neighbour(
                        address: request.addresses.inside($0).address, hardwareAddress: Reserved.peerHardwareAddress)
                }),
            routes: families.flatMap { routes($0, request) },
            rules: families.flatMap { rules($0, request) },
            guardTable: guardTable(request), domestic: request.domestic)
    }

    /// The plan of a tunnel that is wanted and has no sandbox: the guard alone, or nothing where nft is missing.
    package static func blocked(_ request: HostPlanRequest) -> HostPlan {
        HostPlan(link: nil, routes: [], rules: [], guardTable: guardTable(request))
    }

    private static func guardTable(_ request: HostPlanRequest) -> GuardTable? {
        request.guardLifetime.map {
            GuardTable(engine: request.engine, resolver: request.resolver, onLink: request.onLink, lifetime: $0)
        }
    }

    private static func routes(_ family: AddressFamily, _ request: HostPlanRequest) -> [Route] {
        // Through an address: a bare device would ask the sandbox for every destination's hardware address.
        let inside = Route.Target.gateway(request.addresses.inside(family).address, Reserved.link)
        return [
            Route(.all(family), inside, table: Reserved.tunnelTable),
            Route(.all(family), inside, table: Reserved.dnsTable),
        ]
    }

    private static func rules(_ family: AddressFamily, _ request: HostPlanRequest) -> [RoutingRule] {
        let tunnel = RoutingRule.Action.lookup(Reserved.tunnelTable)
        // What comes from the tunnel's own address stays in the tunnel: a conversation that was begun in Global mode must
        // not be thrown out of it, with that address, when domestic destinations are.
        let wholeTunnel = RoutingRule.Action.lookup(Reserved.dnsTable)
        let main = RoutingRule.Action.lookup(.main)
        let mainUnlessDefault = RoutingRule.Action.lookup(.main, suppressingLength: 0)
        let ownNetwork = request.addresses.network(family)
        let local = family == .ipv4 ? Reserved.privateIPv4 : Reserved.privateIPv6
        let onLink = Prefix.minimal(request.onLink.filter { $0.family == family })

        var rules = [
            // A jump, not "lookup main": without a default route that would fall through into the tunnel and loop.
            RoutingRule(
                family, Reserved.engineRule, users: UserIDRange(request.engine), action: .goto(Reserved.endRule)),
            // Changes no packet's way; its presence makes the reverse-path filter look at ports.
            RoutingRule(
                family, Reserved.dissectRule, transport: .udp, sourcePort: .dns, destinationPort: .dns, action: .nop),
        ]
        rules += [TransportProtocol.udp, .tcp].map {
            RoutingRule(
                family, Reserved.dnsRule, incoming: .loopback, transport: $0, destinationPort: .dns,
                action: .lookup(Reserved.dnsTable))
        }
        if family == .ipv4 {
            rules += Reserved.broadcastIPv4.map {
                RoutingRule(family, Reserved.broadcastRule, destination: $0, action: main)
            }
        }
        // Not all of main: routes such as 0.0.0.0/1 from a hostile DHCP server would carry everything past the tunnel.
        rules += (local + onLink).map {
            RoutingRule(family, Reserved.localRule, destination: $0, action: mainUnlessDefault)
        }
        // A domestic resolver must not be thrown to a guard that rejects it.
        rules += [TransportProtocol.udp, .tcp].map {
            RoutingRule(
                family, Reserved.secureDNSRule, incoming: .loopback, transport: $0, destinationPort: .dnsOverTLS,
                action: wholeTunnel)
        }
        switch family {
        case .ipv4:
            rules += [(Prefix(host: .unspecified(.ipv4)), tunnel), (ownNetwork, wholeTunnel)].map {
                RoutingRule(family, Reserved.captureRule, source: $0, incoming: .loopback, action: $1)
            }
        case .ipv6:
            // An IPv6 source that is not chosen yet matches no `from`: so the chosen ones are sorted out first.
            rules.append(
                RoutingRule(
                    family, Reserved.captureRule, source: ownNetwork, incoming: .loopback, action: wholeTunnel))
            rules += Reserved.sourcesIPv6.map { RoutingRule(family, Reserved.sourceRule, source: $0, action: main) }
            rules.append(RoutingRule(family, Reserved.captureRestRule, incoming: .loopback, action: tunnel))
        }
        // Main before the rules of other clients below: a second proxy's would take the engine into its own tunnel, and a VPN's
        // outer packets, which go through the line, would come round again. Without a default route it falls through to them.
        return rules + [
            RoutingRule(family, Reserved.endRule, users: UserIDRange(request.engine), action: .lookup(.main))
        ]
    }
}
