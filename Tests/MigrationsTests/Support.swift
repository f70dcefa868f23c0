// Reading fixtures, and the context the corpus was made for.

import Glibc
import ImportReport
import JSON

@testable import Migrations

private let fixtures =
    String(#filePath.prefix { _ in true }.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }) + "/Fixtures"

/// The bytes of a fixture.
func fixture(_ path: String) throws -> JSON {
    guard let file = fopen(fixtures + "/" + path, "r") else { throw MissingFixture(path: path) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&chunk, 1, chunk.count, file)
        if count == 0 { break }
        bytes += chunk[..<count]
    }
    return try JSON.parse(bytes, dialect: .lenient)
}

struct MissingFixture: Error { let path: String }

/// The names in a fixture folder, sorted.
func names(in folder: String) -> [String] {
    guard let directory = opendir(fixtures + "/" + folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
}

/// An engine with everything the corpus assumes.
let fullContext = MigrationContext(
    capabilities: EngineCapabilities(tags: ["with_dhcp", "with_quic"]),
    schema: (try? fixture("schema-1.14.2.json")).flatMap { EngineSchema($0) })

/// The 1.14.2 of the pinned wheel: no DHCP.
let plainContext = MigrationContext(
    capabilities: EngineCapabilities(tags: ["with_quic", "with_wireguard"]), schema: fullContext.schema)

/// Migrates a text.
func migrate(_ text: String, _ context: MigrationContext = plainContext) throws -> (JSON, [Change]) {
    var document = try JSON.parse(text)
    let changes = Migrations.run(&document, context)
    return (document, changes)
}
