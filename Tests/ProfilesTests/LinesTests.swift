// Lines that would stop the engine, or touch this machine, are repaired or dropped by name.

import ImportReport
import JSON
import Testing

@testable import Profiles

@Suite struct LinesTests {
    private func shape(_ outbounds: [JSON], endpoints: [JSON] = []) throws -> ShapedProfile {
        try ProfileShaper.shape(
            ShapingInput(
                outbounds: outbounds, endpoints: endpoints,
                lineTags: (outbounds + endpoints).compactMap { $0["tag"].string }))
    }

    @Test func hostileFieldsGo() throws {
        let shaped = try shape(
            [
                line("a", ["routing_mark": 1, "netns": "x", "bind_interface": "eth0"]),
                line("b", ["tls": ["enabled": true, "client_key_path": "/etc/shadow", "server_name": "s"]]),
                line("c", ["transport": ["type": "ws", "path": "/x_path", "headers": ["system": "1"]]]),
            ],
            endpoints: [
                [
                    "type": "wireguard", "tag": "w", "system": true, "name": "wg0", "listen_port": 5,
                    "address": ["10.0.0.2/32"],
                ]
            ])
        #expect(shaped.outbound("a") == line("a"))
        #expect(shaped.outbound("b")?["tls"] == ["enabled": true, "server_name": "s"])
        #expect(shaped.outbound("c")?["transport"] == ["type": "ws", "path": "/x_path", "headers": ["system": "1"]])
        #expect(
            shaped.profile["endpoints"] == [["type": "wireguard", "tag": "w", "address": ["10.0.0.2/32"]]])
        #expect(shaped.changed("outbounds[1].tls.client_key_path"))
        #expect(shaped.changes.count == 7)
    }

    @Test(arguments: [
        ("tls;cert=/etc/passwd;host=h", "tls;host=h"), ("c\\ert=/x", ""), ("tls;host=a\\;cert=/x", nil),
        ("certRaw=abc;tls", nil), ("host=cert", nil),
    ])
    func pluginsOpenNoFiles(_ options: String, _ kept: String?) throws {
        let shaped = try shape([
            ["type": "shadowsocks", "tag": "s", "plugin": "v2ray-plugin", "plugin_opts": .string(options)]
        ])
        #expect(shaped.outbound("s")?["plugin_opts"].string == kept ?? options)
        #expect(shaped.changed("outbounds[0].plugin_opts") == (kept != nil))
    }

    @Test func typesThatAreNoLines() throws {
        let shaped = try shape([
            line("ok"), ["type": "tor", "tag": "t"], ["type": "bridge", "tag": "br"], ["tag": "x"], 5, ["type": 3],
            ["type": "shadowsocks", "tag": "s", "plugin": "/bin/sh"],
            ["type": "ssh", "tag": "k", "private_key_path": "/etc/ssh/id"],
        ])
        #expect(shaped.lineTags == ["ok"])
        #expect(
            shaped.dropped.map(\.reason) == [
                .unsupportedType, .unsupportedType, .missingField, .missingField, .missingField, .unsupportedPlugin,
                .localFile,
            ])
    }

    @Test func tagsAreUniqueAndOursStayOurs() throws {
        let shaped = try shape([line("x"), line("x"), line("x #2"), line("proxy"), line("auto")])
        #expect(shaped.lineTags == ["x", "x #2", "x #2 #2", "proxy #2", "auto #2"])
    }

    @Test func detoursLeadSomewhereOrCostTheLine() throws {
        let shaped = try shape([
            line("good", ["detour": "end"]), line("end"), line("plain", ["detour": "direct"]),
            line("lost", ["detour": "nobody"]), line("behind", ["detour": "lost"]),
            line("ring1", ["detour": "ring2"]), line("ring2", ["detour": "ring1"]),
            line("self", ["detour": "self"]), line("onto", ["detour": "ring1"]), line("odd", ["detour": 5]),
        ])
        #expect(shaped.lineTags == ["good", "end", "plain"])
        #expect(shaped.outbound("plain")?["detour"].isNull == true)
        let reasons = Dictionary(uniqueKeysWithValues: shaped.dropped.map { ($0.name, $0.reason) })
        #expect(
            reasons == [
                "lost": .dialerUnresolved, "behind": .dialerUnresolved, "ring1": .dialerCycle, "ring2": .dialerCycle,
                "self": .dialerCycle, "onto": .dialerUnresolved, "odd": .badField,
            ])
    }

    @Test func noLinesIsAnError() {
        #expect(throws: ShapingError.noLines([])) { try shape([]) }
        let error = #expect(throws: ShapingError.self) { try shape([line("a", ["detour": "b"])]) }
        guard case .noLines(let dropped)? = error else { return }
        #expect(dropped.map(\.name) == ["a"])
    }

    @Test func aLineAsksOnlyOurResolverForItsServer() throws {
        let shaped = try shape([
            line("a", ["domain_resolver": ["server": "dns-direct", "strategy": "ipv4_only"]]),
            line("b", ["domain_resolver": ["server": "through-the-line", "strategy": "ipv4_only"]]),
            line("c", ["domain_resolver": "gone"]),
        ])
        #expect(shaped.outbound("b")?["domain_resolver"] == ["server": "dns-direct", "strategy": "ipv4_only"])
        #expect(shaped.outbound("c")?["domain_resolver"] == "dns-direct")
        #expect(shaped.changes.map(\.place) == ["outbounds[1].domain_resolver", "outbounds[2].domain_resolver"])
    }

    /// A quadratic step would take minutes here.
    @Test(.timeLimit(.minutes(5))) func manyLinesStayLinear() throws {
        let count = 10_000
        let chain = (0..<count).map { at in
            line("n\(at)", at + 1 < count ? ["detour": .string("n\(at + 1)"), "routing_mark": 1] : [:])
        }
        #expect(try shape(chain).lineTags.count == count)
        #expect(try shape((0..<count).map { _ in line("same") }).lineTags.last == "same #\(count)")
    }
}
