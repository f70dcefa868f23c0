// The engine's schema, from the fixtures of the migrations.

import JSON
import Linux
import Migrations

/// Schemas the targets work with.
enum Schema {
    /// That of sing-box 1.14.2; nil when the repository is not where it was built.
    static let engine: EngineSchema? = {
        let tests = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let path = tests + "/MigrationsTests/Fixtures/schema-1.14.2.json"
        guard let bytes = try? UserFile.read(path, limit: 32 << 20) else { return nil }
        return (try? JSON.parse(bytes)).flatMap { EngineSchema($0) }
    }()
}
