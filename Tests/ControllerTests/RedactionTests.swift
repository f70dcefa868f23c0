// No secret of a subscription survives in a report.

import JSON
import Store
import Testing

@testable import Controller

@Suite struct RedactionTests {
    private func state() -> State {
        var state = State()
        state.subscription = SubscriptionRecord(
            link: "https://sub.example.org/s/t0ken?x=1", agent: nil, title: "云上机场", format: "sing-box", fetchedAt: 0,
            intervalHours: nil, quota: nil,
            lines: [
                StoredLine(
                    identity: "f00dfeed", tag: "HK 1", name: "HK 1", type: "trojan", server: "hk.example.org",
                    port: 443,
                    multiplier: nil),
                StoredLine(
                    identity: "f00dbeef", tag: "HK 10", name: "HK 10", type: "vless", server: "203.0.113.7", port: 443,
                    multiplier: nil),
            ], sources: [], report: nil, domesticAddressesAreDirect: true, engine: "1.14.2")
        return state
    }

    private let profile: JSON = [
        "outbounds": [
            ["type": "trojan", "tag": "HK 1", "server": "hk.example.org", "password": "pa55word"],
            [
                "type": "vless", "tag": "HK 10", "uuid": "c0ffee00-0000-4000-8000-000000000000",
                "tls": ["server_name": "cdn-front", "reality": ["public_key": "PUBKEY", "short_id": "abcd"]],
                "transport": ["path": "/secret-path", "headers": ["Host": ["front-host"]]],
            ],
        ]
    ]

    @Test func nothingOfTheSubscriptionSurvives() {
        let text = """
            line HK 10 at 203.0.113.7:443 and HK 1 at hk.example.org:443, link https://sub.example.org/s/t0ken?x=1
            password pa55word uuid c0ffee00-0000-4000-8000-000000000000 sni cdn-front key PUBKEY id abcd
            path /secret-path host front-host title 云上机场 identity f00dfeed provider sub.example.org
            """
        let shown = Redaction(state: state(), profile: profile)(text)
        let secrets = [
            "HK", "203.0.113.7", "hk.example.org", "t0ken", "sub.example.org", "pa55word", "c0ffee00", "cdn-front",
            "PUBKEY", "abcd", "secret-path", "front-host", "云上机场", "f00dfeed",
        ]
        for secret in secrets { #expect(!shown.contains(secret), "\(secret)") }
        #expect(shown.contains("<line-1>") && shown.contains("<line-2>"))
    }

    @Test(arguments: [
        ("connection to www.example.com:443 using x", "connection to <host> using x"),
        ("dial tcp [2001:db8::1]:443: refused", "dial tcp <host>: refused"),
        ("from 198.51.100.7:53.", "from <host>."),
        ("2026-11-30T02:50:23.464Z notice worker", "2026-11-30T02:50:23.464Z notice worker"),
        ("+0000 2026-11-30 02:50:26 ERROR x", "+0000 2026-11-30 02:50:26 ERROR x"),
        ("listening at 127.0.0.1:4000", "listening at 127.0.0.1:4000"),
        ("sing-box 1.14.2 /run/trocket/command.sock", "sing-box 1.14.2 /run/trocket/command.sock"),
        ("see https://a.b/c?d=e", "see <url>"),
    ])
    func masksPlaces(text: String, expected: String) { #expect(Redaction.maskingPlaces(text) == expected) }
}
