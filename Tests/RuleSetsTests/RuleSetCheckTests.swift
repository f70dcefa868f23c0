// Downloads are judged by the real engine: good sets pass, everything else is named.

import EngineControl
import JSON
import Linux
import Profiles
import Testing

@testable import RuleSets

/// The engine the tests run, when there is one.
let engine: EngineBinary? = try? EngineBinary.find()

@Suite(.enabled(if: engine != nil, "no engine: set TROCKET_ENGINE to a sing-box 1.14 or newer"))
struct RuleSetCheckTests {
    let source = Array(#"{"version":3,"rules":[{"domain_suffix":["ads.example"]},{"domain_regex":["^a.*$"]}]}"#.utf8)

    private func compiled() throws -> [UInt8] {
        try #require(engine).run(
            ["rule-set", "compile", "/dev/fd/3", "--output", "/dev/stdout"], input: source)
    }

    private func reason(_ bytes: [UInt8], _ format: LocalRuleSet.Format) throws -> String {
        do {
            _ = try RuleSetCheck.check(bytes, format: format, engine: #require(engine))
            return "accepted"
        } catch let defect as RuleSetDefect { return defect.reason }
    }

    @Test func goodSetsPassUntouched() throws {
        let binary = try compiled()
        let engine = try #require(engine)
        #expect(try RuleSetCheck.check(binary, format: .binary, engine: engine) == CheckedRuleSet(bytes: binary))
        #expect(try RuleSetCheck.check(source, format: .source, engine: engine) == CheckedRuleSet(bytes: source))
    }

    @Test func damageIsNamed() throws {
        let binary = try compiled()
        for cut in [1, 3, 10, binary.count - 5] {
            #expect(try reason(Array(binary.dropLast(cut)), .binary) == "the file is damaged or cut off")
        }
        var newer = binary
        newer[3] = 99
        #expect(try reason(newer, .binary) == "unsupported version: 99")
        let page = Array("\n<!DOCTYPE html><html>login</html>".utf8)
        #expect(try reason(page, .binary) == "a web page was sent instead of a rule-set")
        #expect(try reason(page, .source) == "a web page was sent instead of a rule-set")
        #expect(try reason([], .binary) == "the file is empty")
        #expect(try reason(source, .binary) == "not a binary rule-set")
        #expect(try reason(binary, .source) != "accepted")
        #expect(try reason(Array(#"{"version":99,"rules":[]}"#.utf8), .source) == "unknown rule-set version: 99")
    }

    @Test func onlyTheExpressionTheEngineLacksIsLeftOut() throws {
        let text = #"""
            {"version":3,"rules":[{"domain_regex":["^ok$","(?!bad)","(?<=worse)"]},{"domain_regex":["(a)\\1"]},
            {"domain_suffix":["kept.example"],"domain_regex":["(?!x)"]}]}
            """#
        let checked = try RuleSetCheck.check(Array(text.utf8), format: .source, engine: #require(engine))
        #expect(checked.repair == "4 regular expressions left out")
        let rules = try JSON.parse(checked.bytes)["rules"]
        #expect(rules == [["domain_regex": ["^ok$"]], ["domain_suffix": ["kept.example"]]])
    }
}

@Suite struct ShownAddressTests {
    /// Private rule-sets stand behind the subscription's own token.
    @Test(arguments: [
        ("https://a.example/r/TOKEN/cn.srs?k=TOKEN", "https://a.example/…/cn.srs"),
        ("https://u:TOKEN@a.example:8443/cn.json", "https://a.example:8443/cn.json"),
        ("https://a.example/TOKEN", "https://a.example/…"), ("TOKEN", "…"),
    ])
    func onlyHostAndFileAreShown(_ url: String, _ shown: String) {
        #expect(RuleSetLibrary.shown(url) == shown)
    }
}
