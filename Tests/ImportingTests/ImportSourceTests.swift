// What a user may name as a subscription.

import Testing

@testable import Importing

@Suite struct ImportSourceTests {
    private func resolve(_ argument: String, input: String = "", file: String = "content") throws -> ImportSource {
        try ImportSource.resolve(
            argument, standardInput: { Array(input.utf8) }, file: { _ in Array(file.utf8) })
    }

    @Test func linksAndDeepLinks() throws {
        #expect(try resolve("https://a.example/s?t=1") == .link("https://a.example/s?t=1", title: nil))
        #expect(try resolve(" HTTPS://a.example/s#My%20VPN\n") == .link("HTTPS://a.example/s", title: "My VPN"))
        #expect(
            try resolve("sing-box://import-remote-profile?url=https%3A%2F%2Fa.example%2Fs%3Ft%3D1%26u%3D2#%E6%88%91")
                == .link("https://a.example/s?t=1&u=2", title: "我"))
        #expect(
            try resolve("clash://install-config?url=https%3A%2F%2Fa.example%2Fs&name=B")
                == .link("https://a.example/s", title: "B"))
    }

    @Test func standardInputHoldsALinkOrTheContent() throws {
        #expect(try resolve("-", input: "https://a.example/s\n") == .link("https://a.example/s", title: nil))
        #expect(try resolve("-", input: "proxies: []\nx: 1\n") == .content(Array("proxies: []\nx: 1\n".utf8)))
        #expect(try resolve("-", input: "trojan://p@h:1#a") == .content(Array("trojan://p@h:1#a".utf8)))
    }

    /// Mail and chat break long links; two links or a link with words after it are no broken link.
    @Test func aLinkBrokenIntoLinesIsOneLink() throws {
        for text in [
            "https://a.example/s\n?t=1\n", "https://a.exam\r\n  ple/s?t=1", "\u{feff}https://a.example/s?\n\nt=1",
        ] {
            #expect(try resolve("-", input: text) == .link("https://a.example/s?t=1", title: nil))
        }
        for text in [
            "https://a.example/s\nhttps://b.example/s", "https://a.example/s\nvalid for 30 days", "x\n?t=1",
            "https://a.example/s\n三十天", "trojan://p@h:1\nx",
        ] {
            #expect(try resolve("-", input: text) == .content(Array(text.utf8)))
        }
    }

    @Test func shareLinksAndFiles() throws {
        #expect(try resolve("ss://abc@h:1#a") == .content(Array("ss://abc@h:1#a".utf8)))
        #expect(try resolve("sub.yaml", file: "proxies: []") == .content(Array("proxies: []".utf8)))
    }

    @Test(arguments: [
        "ftp://a.example/s", "file:///etc/passwd", "https://", "sing-box://import-remote-profile?name=x",
        "clash://install-config?url=file%3A%2F%2F%2Fetc%2Fpasswd",
    ])
    func brokenLinksAreSaid(_ argument: String) {
        #expect(importError { _ = try resolve(argument) }?.code == .badSource)
    }
}
