// Identities, merging of two answers, and lines out of sing-box configurations.

import ImportReport
import JSON
import Testing

@testable import Subscriptions

@Suite struct LineTests {
    private func read(_ text: String) throws -> Subscription {
        try SubscriptionReader.read(Array(text.utf8), capabilities: Fixture.plain)
    }

    private static let links = """
        trojan://p1@a.example.net:443#A
        trojan://p2@a.example.net:443#B
        ss://YWVzLTEyOC1nY206cA@1.2.3.4:443/?plugin=shadow-tls%3Bhost%3Dwww.example.com%3Bpassword%3Dsp%3Bversion%3D3#S
        hysteria2://pw@h.example.net:443?mport=5-9#H
        """

    @Test func identitiesSurviveRenamingAndReordering() throws {
        let first = try read(Self.links)
        let renamed = Self.links.split(separator: "\n").reversed().map { "\($0)-568.9G" }.joined(separator: "\n")
        let second = try read(renamed)
        #expect(Set(first.lines.map(\.identity)) == Set(second.lines.map(\.identity)))
        #expect(Set(first.lines.map(\.identity)).count == 4)
        #expect(first.lines.allSatisfy { $0.identity.utf8.count == 16 && $0.identity.isHex })
        #expect(LineIdentity.find(first.lines[1].identity, in: second.lines)?.name == "B-568.9G")
        #expect(LineIdentity.find("0000000000000000", in: second.lines) == nil)
    }

    @Test func identitiesAreTheSameInEveryDialect() throws {
        let clash = try read(
            """
            proxies:
              - {name: X, type: trojan, server: A.example.net, port: 443, password: p1, sni: other}
              - {name: Y, type: hysteria2, server: h.example.net, ports: 5-9, password: pw}
              - {name: Z, type: ss, server: 1.2.3.4, port: 443, cipher: aes-128-gcm, password: p,
                 plugin: shadow-tls, plugin-opts: {host: h, password: s}}
            """)
        let links = try read(Self.links)
        let own = SubscriptionReader.singBox([
            "outbounds": [
                ["type": "selector", "tag": "select", "outbounds": ["t"]],
                ["type": "trojan", "tag": "t", "server": "a.example.net", "server_port": 443, "password": "p1"],
                ["type": "direct", "tag": "direct"],
            ]
        ])
        #expect(clash.lines[0].identity == links.lines[0].identity)
        #expect(clash.lines[1].identity == links.lines[3].identity)
        #expect(clash.lines[2].identity == links.lines[2].identity)
        #expect(own.lines.map(\.identity) == [links.lines[0].identity])
    }

    @Test func linesOfOneServerAreToldApart() throws {
        let text =
            "trojan://p@a:1?type=ws&path=/1#x\ntrojan://p@a:1?type=ws&path=/2#x\ntrojan://p@a:1?type=ws&path=/2#x\n"
        let found = try read(text)
        #expect(Set(found.lines.map(\.identity)).count == 3)
        #expect(Set(found.lines.map { LineIdentity.base(of: $0.identity) }).count == 1)
        let fewer = try read(String(text.split(separator: "\n")[0]))
        #expect(LineIdentity.find(found.lines[1].identity, in: fewer.lines)?.tag == "x")
        #expect(LineIdentity.find("\(LineIdentity.base(of: found.lines[0].identity)).00000000", in: found.lines) == nil)
    }

    @Test func mergingAddsOnlyWhatIsMissing() throws {
        let first = try read(Self.links)
        let second = try read(
            """
            proxies:
              - {name: other name, type: trojan, server: a.example.net, port: 443, password: p1}
              - {name: A, type: trojan, server: new.example.net, port: 443, password: p}
              - {name: W, type: ss, server: 5.6.7.8, port: 1, cipher: aes-128-gcm, password: p,
                 dialer-proxy: other name, plugin: shadow-tls, plugin-opts: {host: h, password: s}}
            """)
        let (merged, added) = first.merged(with: second)
        #expect(added == 2)
        #expect(merged.lines.map(\.tag) == ["A", "B", "S", "H", "A #2", "W"])
        #expect(merged.lines.map(\.name) == ["A", "B", "S", "H", "A", "W"])
        let tags = merged.outbounds.compactMap { $0["tag"].string }
        #expect(Set(tags).count == tags.count)
        let objects = LineIdentity.objects(merged.outbounds)
        #expect(objects["W"]?["detour"].string == "W#stls")
        #expect(objects["W#stls"]?["detour"].string == "A")
        #expect(first.merged(with: first).added == 0)
        let twice = merged.merged(with: second)
        #expect(twice.added == 0)
    }

    @Test func mergingKeepsLinesOfOneServerApart() throws {
        let first = try read("trojan://p@a:1?type=ws&path=/1#x\ntrojan://p@a:1?type=ws&path=/2#y\n")
        let second = try read("trojan://p@a:1?type=ws&path=/2#renamed\ntrojan://p@a:1?type=ws&path=/3#z\n")
        let (merged, added) = first.merged(with: second)
        #expect(added == 1)
        #expect(merged.lines.map(\.name) == ["x", "y", "z"])
    }

    @Test func singBoxLinesAreProxiesOnly() throws {
        let text = """
            {"outbounds": [ // comment
              {"type": "urltest", "tag": "auto", "outbounds": ["HK x2"]},
              {"type": "vless", "tag": "HK x2", "server": "a", "server_port": 443, "uuid": "u",
               "tls": {"enabled": true}},
              {"type": "shadowtls", "tag": "helper", "server": "b", "server_port": 8443, "version": 3},
              {"type": "shadowsocks", "tag": "ss", "method": "none", "password": "", "detour": "helper"},
              {"type": "socks", "tag": "剩余流量：1 GB", "server": "127.0.0.1", "server_port": 1},
              {"type": "block", "tag": "block"}, {"type": "dns", "tag": "dns"},],
             "endpoints": [{"type": "wireguard", "tag": "wg", "private_key": "k",
                            "peers": [{"address": "c", "port": 2}]}]}
            """
        let found = try read(text)
        #expect(found.format == .singBox)
        #expect(found.lines.map(\.tag) == ["HK x2", "ss", "wg"])
        #expect(found.lines.map(\.type) == ["vless", "ss", "wireguard"])
        #expect(found.lines.map(\.server) == ["a", "b", "c"])
        #expect(found.lines.map(\.port) == [443, 8443, 2])
        #expect(found.lines[0].multiplier == 2)
        #expect(found.info == ["剩余流量：1 GB"])
        #expect(found.document?["endpoints"].array?.count == 1)
    }

    @Test func enginesGetOnlyWhatTheyCanRun() throws {
        func outbound(_ tag: String, _ type: String, _ more: String = "") throws -> JSON {
            try JSON.parse(#"{"type":"\#(type)","tag":"\#(tag)","server":"a","server_port":1,"uuid":"u"\#(more)}"#)
        }
        let objects = [
            try outbound("utls", "trojan", #","tls":{"enabled":true,"utls":{"enabled":true,"fingerprint":"chrome"}}"#),
            try outbound("off", "trojan", #","tls":{"enabled":true,"utls":{"enabled":false}}"#),
            try outbound("reality", "vless", #","tls":{"enabled":true,"reality":{"enabled":true}}"#),
            try outbound("naive", "naive"), try outbound("hy2", "hysteria2"),
            try outbound("quic", "vmess", #","transport":{"type":"quic"}"#),
            try outbound("flow", "vless", #","flow":"xtls-rprx-vision""#),
            ["type": "socks", "tag": "zero", "server": "a", "server_port": 0],
            ["type": "socks", "tag": "brackets", "server": "[::1]", "server_port": 1],
            ["type": "direct", "tag": "direct"],
            ["type": "hysteria2", "tag": "hop", "server": "a", "server_ports": ["1:2"]],
            ["type": "vless", "tag": "no id", "server": "a", "server_port": 1, "uuid": ""],
        ]
        let fitted = CapabilityFilter.apply(
            outbounds: objects, endpoints: [["type": "wireguard", "tag": "wg"]], capabilities: Fixture.plain)
        #expect(fitted.outbounds.compactMap { $0["tag"].string } == ["utls", "off", "hy2", "quic", "direct", "hop"])
        #expect(fitted.outbounds.allSatisfy { $0["tls"]["utls"].isNull })
        #expect(fitted.notices == [Notice(name: "utls", code: .utlsUnavailable, field: "tls.utls")])
        #expect(
            fitted.dropped.map { "\($0.name) \($0.reason.rawValue)" } == [
                "reality needs_utls", "naive needs_naive", "flow unsupported_feature", "zero bad_field",
                "brackets bad_field", "no id missing_field",
            ])
        #expect(fitted.endpoints.count == 1)
        let bare = CapabilityFilter.apply(
            outbounds: objects, endpoints: [["type": "wireguard", "tag": "wg"]],
            capabilities: EngineCapabilities(tags: []))
        #expect(bare.endpoints.isEmpty)
        #expect(bare.outbounds.compactMap { $0["tag"].string } == ["utls", "off", "direct"])
    }
}
