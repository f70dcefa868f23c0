// Rules of the mapping that the corpora show no case of.

import ImportReport
import JSON
import Testing

@testable import Subscriptions

@Suite struct NodeTests {
    private static let head = "server: a.example.net, port: 443"
    private static let uuid = "uuid: b831381d-6324-4d53-ad4f-8cda48b30811"

    private func read(_ nodes: [String], more: String = "", _ capabilities: EngineCapabilities = Fixture.plain) throws
        -> Subscription
    {
        let list = nodes.map { "  - {\($0)}\n" }.joined()
        return try SubscriptionReader.read(Array("proxies:\n\(list)\(more)".utf8), capabilities: capabilities)
    }

    private func one(_ node: String, _ capabilities: EngineCapabilities = Fixture.plain) throws -> JSON {
        let found = try read(["name: n, \(node)"], capabilities)
        #expect(found.dropped.isEmpty, "\(found.dropped)")
        return try #require((found.outbounds + found.endpoints).first)
    }

    private func reason(_ node: String) throws -> [String] {
        try read(["name: n, \(node)"]).dropped.map { "\($0.reason.rawValue) \($0.field ?? "")" }
    }

    private func notices(_ node: String) throws -> [String] {
        try read(["name: n, \(node)"]).notices.map { "\($0.code.rawValue) \($0.field ?? "")" }
    }

    @Test(arguments: [
        (
            "ws-opts: {path: 'p?ed=100&eh=X-E', headers: {host: h, X-B: c}, v2ray-http-upgrade: false}",
            #"{"type":"ws","path":"/p","headers":{"Host":"h","X-B":"c"},"#
                + #""max_early_data":100,"early_data_header_name":"X-E"}"#
        ),
        ("ws-opts: {path: '/p?a=b'}", #"{"type":"ws","path":"/p","headers":{"Host":"s"}}"#),
        (
            "ws-opts: {max-early-data: 5, early-data-header-name: H}",
            #"{"type":"ws","path":"/","headers":{"Host":"s"},"max_early_data":5,"early_data_header_name":"H"}"#
        ),
        ("ws-opts: {path: /u, v2ray-http-upgrade: true}", #"{"type":"httpupgrade","path":"/u","host":"s"}"#),
    ])
    func webSockets(_ options: String, _ expected: String) throws {
        let node = try one("type: vmess, \(Self.head), \(Self.uuid), tls: true, servername: s, network: ws, \(options)")
        #expect(node["transport"] == (try JSON.parse(expected)))
        #expect(node["tls"]["alpn"] == ["http/1.1"])
    }

    @Test func grpcHasAServiceName() throws {
        let node = try one("type: trojan, \(Self.head), password: p, network: grpc, grpc-opts: {ping-interval: 9}")
        #expect(node["transport"] == ["type": "grpc", "service_name": "GunService", "idle_timeout": "9s"])
    }

    @Test func queriesAreTakenOffPaths() throws {
        #expect(
            try notices("type: vmess, \(Self.head), \(Self.uuid), network: ws, ws-opts: {path: '/p?a=b'}") == [
                "field_dropped ws-opts.path"
            ])
    }

    @Test(arguments: [
        ("type: vmess, tls: true, network: http", "unsupported_transport network:http"),
        ("type: vmess, network: h2", "unsupported_transport network:h2"),
        ("type: trojan, password: p, network: h2", "unsupported_transport network:h2"),
        ("type: vless, network: quic", "unsupported_transport network:quic"),
        (
            "type: vless, tls: true, network: grpc, grpc-opts: {grpc-service-name: /a/b}",
            "unsupported_transport grpc-opts.grpc-service-name"
        ),
        ("type: trojan, password: p, ss-opts: {enabled: true}", "unsupported_feature ss-opts"),
        ("type: ss, cipher: aes-128-gcm", "missing_field password"),
        ("type: ss, cipher: 2022-blake3-aes-256-gcm, password: AAAA", "bad_field password"),
        (
            "type: ss, cipher: aes-128-gcm, password: p, udp-over-tcp: true, udp-over-tcp-version: 3",
            "bad_field udp-over-tcp-version"
        ),
        ("type: hysteria2, ports: 9-5", "bad_field ports"), ("type: hysteria2, ports: 0-5", "bad_field ports"),
        ("type: hysteria2, ports: 5-70000", "bad_field ports"),
        ("type: trojan, password: p, certificate: /etc/a.pem, private-key: /etc/b.pem", "local_file certificate"),
        ("type: wireguard, ip: 10.0.0.2, private-key: AAAA, public-key: AAAA", "bad_field public-key"),
        ("type: trojan, password: p, name-cert-verify: x", "unsupported_feature name-cert-verify"),
    ])
    func dropped(_ node: String, _ expected: String) throws {
        #expect(try reason("\(Self.head), \(Self.uuid), \(node)") == [expected])
    }

    @Test(arguments: [
        "server: ''", "server: 'a/b'", "server: ' '", "server: [a]", "server: \(String(repeating: "a", count: 254))",
    ])
    func badServers(_ server: String) throws {
        #expect(try reason("type: trojan, password: p, port: 443, \(server)") == ["bad_field server"])
    }

    @Test func serversAreTrimmed() throws {
        #expect(try one("type: trojan, password: p, port: 443, server: ' [2001:db8::1] '")["server"] == "2001:db8::1")
    }

    @Test func muxes() throws {
        let base = "type: ss, \(Self.head), cipher: aes-128-gcm, password: p"
        let node = try one(
            "\(base), smux: {enabled: true, protocol: yamux, max-connections: 4, max-streams: 9, "
                + "padding: true, brutal-opts: {enabled: true, up: '10 Mbps', down: 20}}"
        )
        #expect(
            node["multiplex"]
                == (try JSON.parse(
                    #"{"enabled":true,"protocol":"yamux","max_connections":4,"padding":true,"#
                        + #""brutal":{"enabled":true,"up_mbps":10,"down_mbps":20}}"#
                )))
        #expect(
            try notices("\(base), udp-over-tcp: true, smux: {enabled: true, only-tcp: true}") == [
                "field_dropped smux.only-tcp", "field_dropped udp-over-tcp",
            ])
        #expect(try notices("type: socks5, \(Self.head), smux: {enabled: true}") == ["field_dropped smux"])
        #expect(try one("\(base), smux: {enabled: false}")["multiplex"].isNull)
    }

    @Test(arguments: [
        ("chrome", "chrome"), ("Chrome120", "chrome"), ("chrome_psk", "chrome"), ("firefox102", "firefox"),
        ("iOS", "ios"), ("safari16", "safari"),
    ])
    func fingerprints(_ text: String, _ name: String) throws {
        let node = try one("type: trojan, \(Self.head), password: p, client-fingerprint: \(text)", Fixture.rich)
        #expect(node["tls"]["utls"]["fingerprint"].string == name)
    }

    @Test func unknownFingerprintsGo() throws {
        let node = "name: n, type: trojan, \(Self.head), password: p, client-fingerprint: chromebook"
        let found = try read([node], Fixture.rich)
        #expect(found.outbounds[0]["tls"]["utls"].isNull)
        #expect(found.notices == [Notice(name: "n", code: .fieldDropped, field: "client-fingerprint")])
    }

    @Test func wireGuardPeers() throws {
        let key = "eCtXsJZ27+4PbhDkHnB923tkUn2Gj59wZw5wFA75MnU="
        let peer = "server: b.example.net, port: 1, public-key: \(key), allowed-ips: [10.0.0.0/8], reserved: [1, 2, 3]"
        let node = try one(
            "type: wireguard, ip: 10.0.0.2, ipv6: 'fd00::2/64', private-key: \(key.dropLast()), "
                + "peers: [{\(peer)}, {\(peer)}]"
        )
        #expect(node["address"] == ["10.0.0.2/32", "fd00::2/64"])
        #expect(node["private_key"].string == key)
        #expect(node["peers"].array?.count == 2)
        #expect(node["peers"].array?[1]["reserved"] == [1, 2, 3])
        let short = "server: b, port: 1, public-key: \(key)"
        #expect(
            try reason("type: wireguard, ip: 10.0.0.2, private-key: \(key), peers: [{\(short)}, {\(short)}]") == [
                "missing_field allowed-ips"
            ])
    }

    @Test func engineWithoutParts() throws {
        let bare = EngineCapabilities(tags: [])
        let key = "eCtXsJZ27+4PbhDkHnB923tkUn2Gj59wZw5wFA75MnU="
        let found = try read(
            [
                "name: a, type: hysteria2, \(Self.head), password: p",
                "name: b, type: tuic, \(Self.head), \(Self.uuid)",
                "name: c, type: wireguard, \(Self.head), ip: 10.0.0.2, private-key: \(key), public-key: \(key)",
                "name: d, type: socks5, \(Self.head)",
            ], bare)
        #expect(found.dropped.map(\.reason) == [.needsQUIC, .needsQUIC, .needsWireGuard])
        #expect(found.lines.map(\.name) == ["d"])
    }

    @Test(
        arguments: [
            ("100", 100), ("100 Mbps", 100), ("1Gbps", 1000), ("640 KBps", 6), ("1 bps", 1), ("8 Mbps", 8),
            ("100 mbps", nil), ("fast", nil), ("", nil),
            ("10 Mbps ", 10), ("99999999999999999999", nil), ("999999999999 TBps", nil), ("1Mbpss", nil),
        ] as [(String, Int?)])
    func speeds(_ text: String, _ speed: Int?) { #expect(NodeConverter.speed(text) == speed) }

    // MARK: Diallers

    private func chain(_ name: String, _ dialer: String, type: String = "socks5") -> String {
        "name: \(name), type: \(type), \(Self.head), password: p, dialer-proxy: \(dialer)"
    }

    @Test func diallersAreFollowed() throws {
        let groups = "proxy-groups:\n  - {name: g, proxies: [DIRECT, gone, h]}\n  - {name: h, proxies: [g, c, b]}\n"
        let found = try read(
            [
                chain("a", "b"), "name: b, type: socks5, \(Self.head)", chain("c", "nowhere"), chain("d", "g"),
                chain("e", "DIRECT"),
            ], more: groups)
        let detours = Dictionary(
            uniqueKeysWithValues: found.outbounds.map { ($0["tag"].string ?? "", $0["detour"].string) })
        #expect(detours == ["a": "b", "b": nil, "d": "b", "e": nil])
        #expect(found.dropped.map(\.reason) == [.dialerUnresolved])
        #expect(found.notices == [Notice(name: "d", code: .dialerGroupFlattened, field: "dialer-proxy")])
    }

    @Test func groupsMayIncludeEverything() throws {
        let more = """
            proxy-groups: [{name: g, use: [p]}, {name: all, include-all: true}]
            proxy-providers: {p: {type: inline, payload: [{name: q, type: socks5, \(Self.head)}]}}
            """
        let found = try read([chain("a", "g"), chain("b", "all")], more: more)
        #expect(found.outbounds.map { $0["detour"].string } == ["q", "a", nil])
    }

    @Test func losingADialerSpreads() throws {
        let found = try read([
            chain("a", "b"), chain("b", "c"), chain("c", "d"), chain("x", "y"), chain("y", "x"), chain("z", "x"),
            chain("self", "self"),
        ])
        #expect(found.lines.isEmpty)
        let reasons = Dictionary(uniqueKeysWithValues: found.dropped.map { ($0.name, $0.reason) })
        #expect(
            reasons == [
                "a": .dialerUnresolved, "b": .dialerUnresolved, "c": .dialerUnresolved, "x": .dialerCycle,
                "y": .dialerCycle,
                "z": .dialerUnresolved, "self": .dialerCycle,
            ])
    }

    @Test func quicNeedsADialerWithUDP() throws {
        let found = try read([
            chain("a", "h", type: "hysteria2"), "name: h, type: http, \(Self.head)", chain("b", "t", type: "hysteria2"),
            "name: t, type: socks5, \(Self.head), udp: false", chain("c", "u", type: "hysteria2"),
            "name: u, type: socks5, \(Self.head)",
        ])
        #expect(found.dropped.map { "\($0.name) \($0.reason.rawValue)" } == ["a dialer_no_udp", "b dialer_no_udp"])
        #expect(found.lines.map(\.name) == ["h", "t", "c", "u"])
    }

    @Test func detoursReplaceDialFieldsAndGoToHelpers() throws {
        let found = try read([
            "name: s, type: ss, \(Self.head), cipher: aes-128-gcm, password: p, plugin: shadow-tls, "
                + "plugin-opts: {host: h, password: q}, dialer-proxy: b, tfo: true",
            "name: b, type: socks5, \(Self.head), tfo: true",
        ])
        #expect(found.outbounds.map { $0["tag"].string } == ["s", "s#stls", "b"])
        #expect(found.outbounds.map { $0["detour"].string } == ["s#stls", "b", nil])
        #expect(found.outbounds.map { $0["tcp_fast_open"].bool } == [nil, nil, true])
    }

    // MARK: Profiles

    @Test func oneBrokenItemCostsNoOther() throws {
        let text = """
            proxies:
              - {name: a, type: socks5, server: a, port: 1}
              - {name: b, type: trojan, server: b, port: 1, password: @x}
              - {name: "c, type: socks5, server: c, port: 1}
              - name: d
                type: trojan
                password: %x
              - {name: e, type: socks5, server: e, port: 1
              - {name: f, type: socks5, server: f, port: 1}
            rules:
              - @broken
              - MATCH,a
            """
        let found = try SubscriptionReader.read(Array(text.utf8), capabilities: Fixture.plain)
        #expect(found.lines.map(\.name).contains("a"))
        #expect(found.lines.map(\.name).contains("f"))
        #expect(found.dropped.allSatisfy { $0.reason == .notAMap })
        #expect(found.unusedRules == 2)
    }

    @Test func onlyMessagesMeanAnExpiredAccount() throws {
        let links = "trojan://p@127.0.0.1:1#Expired\ntrojan://p@www.example.com:1#官网：x\n"
        let found = try SubscriptionReader.read(Array(links.utf8), capabilities: Fixture.plain)
        let error = #expect(throws: SubscriptionError.self) { try found.requireLines() }
        #expect(error?.texts == ["Expired", "官网：x"])
        let real = try SubscriptionReader.read(
            Array("trojan://p@n1.example.net:1#官网：x\n".utf8), capabilities: Fixture.plain)
        #expect(real.lines.map(\.name) == ["官网：x"])
    }

    @Test func providersFilterAndOverride() throws {
        let text = """
            proxy-providers:
              p:
                type: inline
                filter: "(?i)hk|jp`SG"
                exclude-filter: "x\\\\d"
                exclude-type: "trojan|ss"
                override:
                  additional-prefix: "[p] "
                  udp: false
                  proxy-name: [{pattern: "HK", target: "香港"}]
                payload:
                  - {name: HK 1, type: socks5, server: a, port: 1}
                  - {name: hk x1, type: socks5, server: a, port: 1}
                  - {name: JP, type: trojan, server: a, port: 1, password: p}
                  - {name: US, type: socks5, server: a, port: 1}
                  - {name: SG, type: socks5, server: a, port: 2}
              q:
                type: inline
                filter: "(?<=x)y"
                payload: [{name: q, type: socks5, server: a, port: 3}]
            """
        let found = try SubscriptionReader.read(Array(text.utf8), capabilities: Fixture.plain)
        #expect(found.lines.map(\.name) == ["[p] 香港 1", "[p] SG", "q"])
        #expect(found.outbounds[0]["network"] == "tcp")
        #expect(found.notices == [Notice(name: nil, code: .fieldDropped, field: "proxy-providers.q.filter")])
    }
}
