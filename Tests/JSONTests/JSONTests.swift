// JSON values survive a round trip; the two dialects accept and refuse what they say.

import JSON
import Testing

@Suite struct JSONTests {
    @Test func numbersAndOrderSurvive() throws {
        let text = #"{"z":1.50,"a":[1e5,-0,12345678901234567890],"m":{"k":null,"t":true}}"#
        #expect(try JSON.parse(text).text() == text)
    }

    @Test func lenientTakesWhatTheEngineTakes() throws {
        let text = "\u{FEFF}{ // note\n \"a\": [1, 2,], # more\n /* and */ \"b\": 1, \"b\": 2, }"
        let value = try JSON.parse(text, dialect: .lenient)
        #expect(value["a"].listed.count == 2)
        #expect(value["b"].int == 2)
        #expect(throws: JSONError.self) { try JSON.parse(text) }
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\":1,}", "01", "1.", "+1", "\"\u{01}\"", "\"\\x\"", "tru", "[1] 2", "{\"a\" 1}", "{a:1}",
        "nul",
        "\"abc", "/* x", "\"\\u12g4\"", "-", "[",
    ])
    func strictRefuses(_ text: String) {
        #expect(throws: JSONError.self) { try JSON.parse(text) }
    }

    @Test func depthIsLimitedAndPlaceIsNamed() throws {
        let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        #expect(throws: JSONError.self) { try JSON.parse(deep) }
        #expect(try JSON.parse(String(deep.dropFirst().dropLast())).listed.count == 1)
        let error = #expect(throws: JSONError.self) { try JSON.parse("{\n \"a\": x}") }
        #expect(error?.line == 2)
        #expect(error?.column == 7)
    }

    @Test func escapes() throws {
        #expect(try JSON.parse(#""\ud83c\udded\u00e9\/\n""#).string == "\u{1F1ED}é/\n")
        #expect(try JSON.parse(#""\ud800x""#).string == "\u{FFFD}x")
        #expect(JSON.string("a\"\\\u{7}\n").text() == #""a\"\\\u0007\n""#)
        #expect(throws: JSONError.self) { try JSON.parse([0x22, 0xFF, 0x22]) }
    }

    @Test func largeObjectsKeepTheirMembers() {
        var object = JSONObject()
        for number in 0..<2_000 { object["k\(number)"] = .int(number) }
        object.removeValue(forKey: "k500")
        #expect(object["k1999"] == 1999)
        #expect(object["k500"] == nil)
        object["k3"] = nil
        #expect(object.count == 1998)
    }

    @Test func prettyIsIndented() {
        let value: JSON = ["a": [1, ["b": []]], "c": [:]]
        #expect(
            value.text(pretty: true) == "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}")
    }
}
