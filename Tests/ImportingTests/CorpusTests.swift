// What users of other clients reported: each case imported with the real engine, as its expectation says.

import ImportReport
import JSON
import Linux
import Subscriptions
import Testing

@testable import Importing

/// The reported cases, by folder.
let reports = (try? Directory("\(folder)/Fixtures/reports").names()) ?? []

@Suite(.enabled(if: engine != nil, noEngine))
struct CorpusTests {
    @Test func thereAreCases() { #expect(reports.count >= 25) }

    @Test(arguments: reports)
    func reportedCase(_ name: String) throws {
        let path = "\(folder)/Fixtures/reports/\(name)"
        let expected = try JSON.parse(try UserFile.read("\(path)/expect.json", limit: 1 << 20))
        let input = try #require(try Directory(path).names().first { $0.hasPrefix("input.") })
        let bytes = try UserFile.read("\(path)/\(input)", limit: 1 << 22)
        let importer = try importer(store: nil, fetch: { _ in [] })
        if let code = expected["error"].string {
            #expect(importError { _ = try importer.run(.content(bytes)) }?.code.rawValue == code)
            return
        }
        let outcome = try importer.run(.content(bytes))
        let lines = expected["lines"].listed.compactMap(\.string)
        #expect(outcome.lines.map(\.name) == lines)
        if !expected["info"].isNull { #expect(outcome.notes == expected["info"].listed.compactMap(\.string)) }
        let dropped = expected["dropped"].listed.compactMap { $0["name"].string }.filter {
            !$0.isEmpty && !$0.hasPrefix("#")
        }
        for name in dropped { #expect(outcome.dropped.contains { $0.name == name }, "\(name)") }
        #expect(outcome.startsOffline)
    }
}
