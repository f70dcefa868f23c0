// YAML as providers write it is read; what is hostile or broken ends in an error with a line.

import Testing
import YAML

@Suite struct YAMLTests {
    private func parse(_ text: String) throws -> Node { try Node.parse(yaml: Array(text.utf8)) }

    @Test func scalarsKeepTheirSourceText() throws {
        let node = try parse("{a: 0123, b: 1e5, c: true, d: '0123', e: !!str 42, f: null, g: \"null\", h: , i: ~}")
        let mapping = try #require(node.mapping)
        #expect(mapping.pairs.map(\.key) == ["a", "b", "c", "d", "e", "f", "g", "h", "i"])
        #expect(mapping.pairs.map { $0.value.text } == ["0123", "1e5", "true", "0123", "42", nil, "null", nil, nil])
        #expect(mapping["f"]?.isNull == true)
        #expect(mapping["g"]?.isNull == false)
    }

    @Test func mergeKeysAndAliases() throws {
        let node = try parse(
            """
            base: &b {x: 1, y: 2}
            other: &o {y: 3, z: 4}
            own: {y: 9, <<: *b}
            list: {<<: [*b, *o]}
            quoted: {"<<": *b}
            alias: *b
            """)
        let root = try #require(node.mapping)
        #expect(root["own"]?.mapping?["y"]?.text == "9")
        #expect(root["own"]?.mapping?["x"]?.text == "1")
        #expect(root["list"]?.mapping?["y"]?.text == "2")
        #expect(root["list"]?.mapping?["z"]?.text == "4")
        #expect(root["quoted"]?.mapping?["<<"]?.mapping?["x"]?.text == "1")
        #expect(root["alias"] == root["base"])
    }

    @Test func dirtIsCleaned() throws {
        let text = "\u{FEFF}a: x\u{8}y\r\nb: z\u{85}\r\n"
        #expect(try parse(text).mapping?["a"]?.text == "xy")
        let broken = Array("a: ".utf8) + [0xFF, 0xC3] + Array("\nb: 1\u{7F}2".utf8)
        let root = try #require(try Node.parse(yaml: broken).mapping)
        #expect(root["a"]?.text == "\u{FFFD}\u{FFFD}")
        #expect(root["b"]?.text == "12")
    }

    @Test(arguments: [("a: 1\n\t- b", 2), ("a: [1,\n2", 3), ("a: b\nc: *nothing", 2), ("a: &x [*x]", 1), ("a: @x", 1)])
    func errorsNameTheLine(_ text: String, _ line: Int) {
        let error = #expect(throws: YAMLError.self) { try parse(text) }
        #expect(error?.line == line, "\(text): \(String(describing: error))")
        #expect(error?.kind == .syntax)
    }

    @Test func nestingIsLimited() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try parse(nested(64)).sequence?.count == 1)
        #expect(throws: YAMLError.self) { try parse(nested(65)) }
    }

    @Test func aliasBombsEnd() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1..<12 {
            text += "a\(level): &a\(level) [" + String(repeating: "*a\(level - 1), ", count: 9) + "*a\(level - 1)]\n"
        }
        let error = #expect(throws: YAMLError.self) { try parse(text) }
        #expect(error?.kind == .limit)
        var merges = "m0: &m0 {a: 1, b: 2, c: 3}\n"
        for level in 1..<24 {
            merges += "m\(level): &m\(level) {<<: [*m\(level - 1), *m\(level - 1)]}\n"
        }
        #expect(throws: YAMLError.self) { try parse(merges) }
    }

    @Test func sizesAreLimited() {
        var limits = YAMLLimits()
        limits.bytes = 8
        limits.nodes = 3
        #expect(throws: YAMLError.self) { try Node.parse(yaml: Array("[1, 2, 3]".utf8), limits: limits) }
        limits.bytes = 100
        #expect(throws: YAMLError.self) { try Node.parse(yaml: Array("[1, 2, 3]".utf8), limits: limits) }
        #expect(throws: Never.self) { try Node.parse(yaml: Array("[1, 2]".utf8), limits: limits) }
    }

    @Test func emptyIsNull() throws {
        #expect(try parse("").isNull)
        #expect(try parse("# nothing\n").isNull)
        #expect(try parse("? [complex]\n: 1\nb: 2").mapping?.pairs.count == 1)
    }
}
