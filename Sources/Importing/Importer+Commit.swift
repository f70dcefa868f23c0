// Putting a finished import in the place of the old one, and making one anew from what an earlier one kept.

import JSON
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

    /// Makes the stored subscription's profile anew from the bodies kept, without fetching them again: for another engine,
    /// or for rule-sets that could not be had before.
    /// - Throws: `ImportError` with `bad-source` when the bodies are gone, and as `run`.
    package func remake(
        _ record: SubscriptionRecord, from store: StateDirectory, selection: Selection?
    ) throws -> ImportOutcome {
        guard let bodies = try Self.bodies(of: record, in: store) else {
            throw ImportError.badSource(
                "订阅的原文不见了，无法重新转换。", "The subscription's source text is gone, so it cannot be converted again.")
        }
        return try run(.stored(bodies), selection: selection)
    }

    private static func bodies(
        of record: SubscriptionRecord, in store: StateDirectory
    ) throws(StoreError) -> [SourceBody]? {
        var bodies: [SourceBody] = []
        for source in record.sources {
            guard let bytes = try store.body(source) else { return nil }
            bodies.append(SourceBody(agent: source.agent, provider: source.provider, bytes: bytes))
        }
        guard let own = bodies.firstIndex(where: { $0.provider == nil }) else { return nil }
        bodies[own].details = ProviderDetails(
            quota: record.quota, title: record.title, intervalHours: record.intervalHours)
        return bodies
    }
}
