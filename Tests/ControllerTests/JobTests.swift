// What the screen makes of the output of the verbs it runs, and of the terminal's events.

import Dashboard
import ImportReport
import JSON
import Messages
import Screen
import Testing

@testable import Controller

@Suite struct JobTests {
    private func value(_ text: String) -> JSON { Job.value(in: Array(text.utf8)) }

    @Test func oneValue() { #expect(value("{\n  \"a\": 1\n}\n")["a"].int == 1) }

    @Test func errorAfterAStream() {
        let text = "{\"id\":\"1\"}\n{\"id\":\"2\"}\n{\n  \"error\": {\n    \"code\": \"timeout\"\n  }\n}\n"
        #expect(value(text)["error"]["code"].string == "timeout")
    }

    @Test func lastLineOfAStream() { #expect(value("{\"id\":\"1\"}\n{\"id\":\"2\"}\n")["id"].string == "2") }

    @Test func nothing() {
        #expect(value("").isNull)
        #expect(value("plain text").isNull)
    }

    @Test func everyEventIsAKey() {
        #expect(Painting.key(.character("q")) == .character("q"))
        #expect(Painting.key(.paste("a\nb")) == .paste("a\nb"))
        #expect(Painting.key(.click(row: 3, column: 7)) == .click(row: 3, column: 7))
        #expect(Painting.key(.wheelDown) == .wheelDown)
    }

    @Test func everyReasonAnImportGivesHasWords() {
        for reason in DropReason.allCases {
            let words = AppWords.dropped(reason.rawValue)
            #expect(words.chinese != reason.rawValue && words.english != reason.rawValue)
        }
    }
}
