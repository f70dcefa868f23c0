// The small pieces: hash, base64, names, link cutting, patterns, messages.

import ImportReport
import JSON
import Notation
import Testing

@testable import Subscriptions

@Suite struct PiecesTests {
    /// The examples of FIPS 180-4's companion document, and lengths around the block size.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
    ])
    func sha256(_ text: String, _ hash: String) { #expect(SHA256.hex(Array(text.utf8), bytes: 32) == hash) }

    @Test func base64InEveryDialect() {
        for text in ["aGk/Pj4=", "aGk_Pj4", "aGk/\r\nPj4", " aGk_Pj4= "] {
            #expect(Base64.decodeText(text) == "hi?>>", "\(text)")
        }
        for text in ["a", "aGk!", "aG=k", "aGk====", "äöü", "aGk/Pj4%"] {
            #expect(Base64.decodeText(text) == nil, "\(text)")
        }
        #expect(Base64.decodeText("aGk%2FPj4%3D") == "hi?>>")
        for length in 0..<8 {
            let bytes = (0..<length).map { UInt8($0 * 37) }
            #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
            #expect(Base64.decode(Base64.encode(bytes, url: true).utf8) == bytes)
        }
    }

    @Test func namesAreCleaned() {
        #expect(Names.cleaned("  a\t\u{200B}b\r\n\u{202E}c\u{FEFF}  d ") == "a b c d")
        #expect(Names.cleaned("👨\u{200D}👩\u{200D}👧 ❤\u{FE0F}") == "👨\u{200D}👩\u{200D}👧 ❤\u{FE0F}")
        #expect(Names.cleaned(String(repeating: "港", count: 300)).unicodeScalars.count == 128)
        #expect(Names.cleaned("\u{0}\u{9F}").isEmpty)
    }

    @Test(arguments: [
        ("e\u{301}", "é"), ("か\u{3099}", "が"), ("ハ\u{309A}", "パ"), ("\u{1112}\u{1161}\u{11AB}", "한"), ("A\u{30A}", "Å"),
        ("\u{212B}", "Å"), ("u\u{308}\u{304}", "ǖ"), ("o\u{323}\u{302}", "ộ"), ("o\u{302}\u{323}", "ộ"),
        ("x\u{301}", "x\u{301}"),
        ("q\u{307}\u{323}", "q\u{323}\u{307}"),
    ])
    func namesAreComposed(_ text: String, _ composed: String) {
        #expect(Array(Names.cleaned(text).unicodeScalars) == Array(composed.unicodeScalars))
    }

    @Test func tagsAreUnique() {
        var tags = TagMaker()
        #expect(
            ["a", "a", "a #2", "a", "Auto", "direct", "Direct"].map { tags.tag(for: $0) } == [
                "a", "a #2", "a #2 #2", "a #3", "Auto #2", "direct #2", "Direct #2",
            ])
    }

    @Test func linksAreCut() throws {
        let link = try #require(LinkParts("HY2://u%40s@er@[2001:db8::1]:1,5-6/p?a-B=1&amp;aB=2&c=+%#x#y%20z"))
        #expect(link.scheme == "hy2")
        #expect(link.user == "u@s@er")
        #expect(link.host == "2001:db8::1")
        #expect(link.port == "1,5-6")
        #expect(link.path == "/p")
        #expect(link["ab"] == "1")
        #expect(link["c"] == "+%")
        #expect(link.fragment == "x#y z")
        #expect(LinkParts("nothing") == nil)
        #expect(LinkParts("://x") == nil)
        let base64 = try #require(LinkParts("ss://ab/c+d==@h:1#n"))
        #expect(base64.userInfo == "ab/c+d==")
    }

    @Test(arguments: [
        ("(?i)hk|港", "HK 01", true), ("(?i)hk|港", "香港", true), ("hk", "HK", false), ("^(?!.*(剩余|到期)).*$", "HK", true),
        ("^(?!.*(剩余|到期)).*$", "剩余 3 天", false), ("a{2,3}b", "aaab", true), ("a{2,3}b", "ab", false),
        ("^a.c$", "abc", true),
        ("[^0-9]", "123", false), ("\\d+x", "12x", true), ("(a*)*b", "aaaa", false), ("\\bJP\\b", "[JP] 1", true),
        ("\\bJP\\b", "xJPx", false), ("(?:ab)+?c", "ababc", true), ("", "anything", true), ("[a-c]]", "b]", true),
    ])
    func patterns(_ pattern: String, _ text: String, _ found: Bool) throws {
        var fuel = 100_000
        #expect(try #require(Pattern(pattern)).isFound(in: text, fuel: &fuel) == found)
    }

    @Test(arguments: ["(", "a)", "*a", "(?<=x)a", "\\p{Han}", "[b-a]", "a{99999}", "(?<n>a)", "[", "\\"])
    func patternsNotKnownAreRefused(_ pattern: String) { #expect(Pattern(pattern) == nil) }

    @Test func patternsEndAndReplace() throws {
        var fuel = 200_000
        let bomb = try #require(Pattern("(a|aa)+$"))
        #expect(bomb.isFound(in: String(repeating: "a", count: 60) + "b", fuel: &fuel) == nil)
        var plenty = 100_000
        let rename = try #require(Pattern("(\\w+) - (\\d+)"))
        #expect(rename.replacing(in: "HK - 01!", with: "$2 $1", fuel: &plenty) == "01 HK!")
        #expect(try #require(Pattern("x*")).replacing(in: "axb", with: "-", fuel: &plenty) == "-a--b-")
    }

    @Test(arguments: [
        "剩余流量：12.5 GB", "流量: 3GB", "套餐到期：长期有效", "距离下次重置剩余：11 天", "官网：www.example.org", "Expire: 2026-12-31", "Expired",
        "请更新订阅", "QQ群: 1", "Traffic: 5.1 GB / 100 GB", "12.5G | 100G", "5 days left", "到期时间 2026", "剩餘流量 3G", "不要选我",
        "t.me/x",
        "最新网址 a.com", "Remaining Traffic: x", "過期時間：2026",
    ])
    func messages(_ name: String) { #expect(InfoNodes.isInfo(name: name, server: "203.0.113.1")) }

    @Test(arguments: [
        "不限流量", "流媒体 01", "大流量", "0.5倍流量", "测试节点", "备用 HK01", "HK Traffic 01", "US Data Center 3", "🇯🇵 到期不停机 东京",
        "香港 01 | 流量倍率 0.5", "🇺🇸 官网同款 US", "Traffic-friendly SG", "1.1.1.1 backup", "2024x10 年付", "Netflix | 4K",
        "10G | IEPL",
    ])
    func lines(_ name: String) { #expect(!InfoNodes.isInfo(name: name, server: "203.0.113.1")) }

    @Test func weakWordsNeedAPlaceholder() {
        #expect(InfoNodes.isInfo(name: "版本 3", server: "127.0.0.1"))
        #expect(!InfoNodes.isInfo(name: "版本 3", server: "n1.example.net"))
        #expect(!InfoNodes.isInfo(name: "HK 3", server: "127.0.0.1"))
    }
}
