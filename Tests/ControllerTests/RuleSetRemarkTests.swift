// The remarks about rule-sets: made in English where rule-sets are read, shown in both languages.

import Linux
import Messages
import RuleSets
import Testing

@testable import Controller

@Suite struct RuleSetRemarkTests {
    private static let sources = [
        "RuleSets/RuleSetLibrary.swift", "RuleSets/RuleSetCheck.swift", "Profiles/RuleSetTable.swift",
        "Importing/Draft.swift",
    ]
    /// Sentences of these files that are no remarks: reasons of changes, which are for programs, and the engine's words.
    private static let others: Set<String> = [
        "parse expression ", ": #: parse expression ", "removed with the rules that name only it", "→ local file",
        "a rule-set without a tag", "a start never downloads", "item removed", "renamed to #", "the tag is taken",
        "the engine refuses this name or expression", "route, dns", "the engine refuses them: #",
        "the provider's own rules are not used", "a member has a wrong type",
    ]

    @Test func everyRemarkIsThereInChinese() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        var remarks: Set<String> = []
        for path in Self.sources {
            let bytes = try UserFile.read("\(root)/Sources/\(path)", limit: 1 << 20)
            remarks.formUnion(sentences(String(decoding: bytes, as: UTF8.self)))
        }
        remarks.subtract(Self.others)
        #expect(remarks.count > 15)
        for remark in remarks {
            for part in remark.split(separator: "; ") where part.contains(where: \.isLetter) {
                #expect(Messages.ruleSetRemark(String(part)).chinese != part, "\(part)")
            }
        }
    }

    /// The texts in a source that have more than one word, `#` standing for what is put in. Comments do not count.
    private func sentences(_ source: String) -> [String] {
        var found: [String] = []
        for line in source.split(separator: "\n") where !line.drop(while: \.isWhitespace).hasPrefix("//") {
            var text: String?
            var depth = 0
            var last: Character = " "
            for character in line {
                if depth > 0 {
                    depth += character == "(" ? 1 : character == ")" ? -1 : 0
                } else if character == "(", last == "\\", text != nil {
                    depth = 1
                    text = (text ?? "").dropLast() + "#"
                } else if character == "\"" {
                    if let text, text.contains(" ") { found.append(text) }
                    text = text == nil ? "" : nil
                } else {
                    text?.append(character)
                }
                last = character
            }
        }
        return found
    }

    @Test func remarksAreShownInTheLanguageAsked() {
        let set = RuleSetReport(
            tag: "a", status: .cached, reason: "the server answers 404; the copy of 2026-11-01 is used")
        #expect(ImportPage.row(set, .chinese).last == "服务器应答 404；使用 2026-11-01 的旧副本")
        #expect(ImportPage.row(set, .english).last == set.reason)
        #expect(Messages.ruleSetRemark("3 regular expressions left out").chinese == "去掉了 3 个正则表达式")
        #expect(
            Messages.ruleSetRemark("x.example/…: Could not resolve host").chinese
                == "x.example/…: Could not resolve host")
    }
}
