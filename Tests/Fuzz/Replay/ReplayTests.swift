// Every seed, and every input that once broke a promise, run through its target as it is.

import FuzzTargets
import Linux
import Testing

@Suite struct ReplayTests {
    private static let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")

    private static func inputs(_ kind: String, _ target: FuzzTarget) throws -> [String] {
        let path = "\(folder)/\(kind)/\(target.rawValue)"
        guard let directory = try? Directory(path) else { return [] }
        return try directory.names().filter { !$0.hasPrefix(".") }.sorted().map { "\(path)/\($0)" }
    }

    @Test(arguments: FuzzTarget.allCases) func seedsKeepEveryPromise(_ target: FuzzTarget) throws {
        let files = try Self.inputs("Seeds", target)
        #expect(!files.isEmpty)
        for file in files { try replay(file, target) }
    }

    @Test(arguments: FuzzTarget.allCases) func whatOnceBrokeDoesNotBreakAgain(_ target: FuzzTarget) throws {
        for file in try Self.inputs("Crashes", target) { try replay(file, target) }
    }

    private func replay(_ file: String, _ target: FuzzTarget) throws {
        let bytes = try UserFile.read(file, limit: 1 << 24)
        #expect(throws: Never.self, "\(file)") { try target.run(bytes) }
    }
}
