// Putting a finished import in the place of the old one, and taking up what an earlier one left.

import EngineControl
package import ImportReport
package import JSON
import Migrations
package import Store
import Subscriptions

extension Importer {
    /// Stores an outcome: bodies, profile and record at once, the selection by identity, then the rule-sets' index.
    /// - Parameters:
    ///   - link: where it came from; nil for content.
    ///   - agent: the User-Agent the user insisted on.
    package func commit(
        _ outcome: ImportOutcome, link: String?, agent: String?, to store: StateDirectory
    ) throws(StoreError) {
        let sources = outcome.bodies.enumerated().map { position, body in
            StoredSource(file: String(position + 1), agent: body.agent, provider: body.provider)
        }
        let record = SubscriptionRecord(
            link: link, agent: agent, title: outcome.title, format: outcome.format, fetchedAt: outcome.fetchedAt,
            intervalHours: outcome.intervalHours, quota: outcome.quota, lines: outcome.storedLines, sources: sources,
            report: outcome.report, domesticAddressesAreDirect: outcome.domesticAddressesAreDirect,
            engine: outcome.engine)
        try store.commit(
            record, profile: outcome.profile.encoded(),
            bodies: zip(sources, outcome.bodies).map { ($0.file, $1.bytes) }
        ) { state in
            guard let selection = state.preferences.selection else { return }
            state.preferences.selection = LineIdentity.find(selection.identity, in: outcome.lines).map {
                Selection(identity: $0.identity, name: $0.name)
            }
        }
        try settle(outcome)
    }

    /// The bodies of the stored subscription, to make a profile of them anew.
    /// - Returns: nil when they are gone.
    package static func stored(_ record: SubscriptionRecord, in store: StateDirectory) throws(StoreError)
        -> ImportSource?
    {
        var bodies: [SourceBody] = []
        for source in record.sources {
            guard let bytes = try store.body(source) else { return nil }
            bodies.append(SourceBody(agent: source.agent, provider: source.provider, bytes: bytes))
        }
        if let at = bodies.firstIndex(where: { $0.provider == nil }) {
            bodies[at].details = ProviderDetails(
                quota: record.quota, title: record.title, intervalHours: record.intervalHours)
        }
        return bodies.isEmpty ? nil : .stored(bodies)
    }
}
