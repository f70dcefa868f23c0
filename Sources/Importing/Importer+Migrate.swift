// Only the migrations: a sing-box configuration in today's form, everything else as it was.

import EngineControl
package import ImportReport
package import JSON
import Migrations
import Subscriptions

extension Importer {
    /// Applies the migrations to a sing-box configuration and nothing else.
    /// - Throws: `ImportError` when the source is no sing-box configuration.
    package func migrate(_ source: ImportSource) throws -> (document: JSON, changes: [Change]) {
        var warnings: [ImportWarning] = []
        let (bodies, _) = try collect(source, agent: nil, warnings: &warnings)
        var firstError: JSONError?
        for body in bodies {
            do throws(JSONError) {
                var document = try JSON.parse(body.bytes, dialect: .lenient)
                guard document.object != nil else { continue }
                let schema = (try? engine.schema()).flatMap { EngineSchema($0) }
                let changes = Migrations.run(
                    &document, MigrationContext(capabilities: engine.capabilities, schema: schema))
                return (document, changes)
            } catch { firstError = firstError ?? error }
        }
        let defect = firstError.map { error in
            SubscriptionError(.badJSON, "The configuration is not JSON: \(error.problem).", line: error.line)
        }
        throw ImportError(defect ?? SubscriptionError(.notASubscription, "This is no sing-box configuration."))
    }
}
