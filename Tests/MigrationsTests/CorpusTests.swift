// Every case of the migration corpus: the old form becomes the right one, the right one stays as it is.

import JSON
import Testing

@testable import Migrations

@Suite struct CorpusTests {
    private static let all = ["cases", "whole"].flatMap { folder in names(in: folder).map { "\(folder)/\($0)" } }

    @Test func theCorpusIsThere() {
        #expect(Self.all.count == 53)
        #expect(fullContext.schema != nil)
    }

    @Test(arguments: all)
    func becomesWhatIsExpected(_ name: String) throws {
        var document = try fixture(name + "/legacy.json")
        let expected = try fixture(name + "/expected.json")
        let isOld = document != expected
        let changes = Migrations.run(&document, fullContext)
        #expect(document == expected)
        #expect(changes.isEmpty != isOld)
    }

    @Test(arguments: all)
    func expectedPassesUntouched(_ name: String) throws {
        let expected = try fixture(name + "/expected.json")
        for context in [fullContext, MigrationContext(capabilities: fullContext.capabilities)] {
            var document = expected
            #expect(Migrations.run(&document, context).isEmpty)
            #expect(document.text() == expected.text())
        }
    }

    /// Each step alone leaves the new form alone and finds nothing to do a second time.
    @Test(arguments: all)
    func everyStepIsIdempotent(_ name: String) throws {
        let expected = try fixture(name + "/expected.json")
        let legacy = try fixture(name + "/legacy.json")
        for migration in Migrations.all {
            var document = expected
            #expect(migration.apply(&document, fullContext).isEmpty, "\(migration.name)")
            document = legacy
            _ = migration.apply(&document, fullContext)
            let once = document
            #expect(migration.apply(&document, fullContext).isEmpty, "\(migration.name)")
            #expect(document == once, "\(migration.name)")
        }
    }

    @Test func namesAreUnique() {
        #expect(Set(Migrations.all.map(\.name)).count == Migrations.all.count)
    }
}
