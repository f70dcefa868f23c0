// The corpora through the whole import with the real engine: what users of other clients reported, and every Clash dialect
// and share link of the mapping.

import EngineControl
import ImportReport
import JSON
import Linux
import Subscriptions
import Testing

@testable import Importing

/// Where the fixtures are: those both targets need stand with the reader's tests.
private let readerFixtures = "\(folder)/../SubscriptionsTests/Fixtures"
private let reports: [String] = ["\(readerFixtures)/reports", "\(folder)/Fixtures/reports"].flatMap { place in
    ((try? Directory(place).names()) ?? []).map { "\(place)/\($0)" }
}
private let dialects: [String] = ((try? Directory("\(readerFixtures)/clash").names()) ?? []).filter { name in
    !name.contains("expected") && [".yaml", ".txt", ".json"].contains(where: name.hasSuffix)
}

@Suite(.enabled(if: engine != nil, noEngine))
struct CorpusTests {
    @Test func thereAreCases() {
        #expect(reports.count >= 27)
        #expect(dialects.count >= 28)
    }

    @Test(arguments: reports)
    func reportedCase(_ path: String) throws {
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

    @Test(arguments: dialects)
    func everyKeptLineStarts(_ name: String) throws {
        let bytes = try UserFile.read("\(readerFixtures)/clash/\(name)", limit: 1 << 22)
        let stem = name.prefix { $0 != "." }
        let rich = "\(readerFixtures)/clash/\(stem).expected.utls.json"
        let hasUTLS = try #require(engine).capabilities.utls
        let file = hasUTLS && Surroundings.exists(rich) ? rich : "\(readerFixtures)/clash/\(stem).expected.json"
        let expected = try JSON.parse(try UserFile.read(file, limit: 1 << 22))
        let names = expected["lines"].listed.compactMap { $0["name"].string }
        let importer = try importer(store: nil, fetch: { _ in [] })
        guard !names.isEmpty else {
            #expect(importError { _ = try importer.run(.content(bytes)) }?.code == .noLines)
            return
        }
        let outcome = try importer.run(.content(bytes))
        #expect(outcome.lines.map(\.name) == names)
        #expect(!outcome.dropped.contains { $0.reason == .kernelRejected })
        // Shaping takes nothing from a line that the mapping gives it.
        for section in ["outbounds", "endpoints"] {
            for var object in expected[section].listed {
                if object["domain_resolver"]["server"] == "dns-local" {
                    object["domain_resolver"]["server"] = "dns-direct"
                }
                let tag = object["tag"]
                #expect(outcome.profile[section].listed.first { $0["tag"] == tag } == object, "\(tag)")
            }
        }
        #expect(outcome.changes.isEmpty)
    }
}
