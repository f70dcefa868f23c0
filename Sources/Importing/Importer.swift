// The import from a source to a profile the engine has started with. Nothing is replaced here: see `commit`.

package import EngineControl
import ImportReport
import JSON
import Migrations
package import Profiles
package import RuleSets
package import Store
import Subscriptions
package import Transfer

/// How far an import is.
package enum ImportStage: Hashable, Sendable {
    case fetching(agent: String)
    case reading
    case fetchingProviders(Int)
    case ruleSets(done: Int, of: Int)
    case checking
    /// The engine refused something, which was taken out.
    case rechecking(round: Int)
}

/// Everything an import works with.
package struct Importer {
    let engine: EngineBinary
    private let client: HTTPClient
    private let library: RuleSetLibrary
    private let fetch: Fetch
    private let prepare: (inout HTTPRequest) -> Void
    private let options: ShapingOptions
    private let now: () -> Int
    private let progress: (ImportStage) -> Void

    /// The agent that shows lines a provider hides from sing-box clients.
    package static let clashAgent = "clash.meta/1.19.32"
    /// proxy-providers fetched.
    package static let mostProviders = 16

    /// - Parameters:
    ///   - fetch: gets bodies.
    ///   - prepare: gives the rule-sets' requests their proxy and authorities.
    ///   - now: seconds since 1970.
    package init(
        engine: EngineBinary, client: HTTPClient, library: RuleSetLibrary, fetch: @escaping Fetch,
        prepare: @escaping (inout HTTPRequest) -> Void, options: ShapingOptions = ShapingOptions(),
        now: @escaping () -> Int, progress: @escaping (ImportStage) -> Void = { _ in }
    ) {
        self.engine = engine
        self.client = client
        self.library = library
        self.fetch = fetch
        self.prepare = prepare
        self.options = options
        self.now = now
        self.progress = progress
    }

    /// Imports a source as far as a profile the engine has started with.
    /// - Parameters:
    ///   - agent: the only User-Agent to use; nil for a sing-box one and then a Clash one.
    ///   - selection: the line chosen so far.
    /// - Throws: `ImportError`, `StoreError`, `EngineFailure`.
    package func run(_ source: ImportSource, agent: String? = nil, selection: Selection? = nil) throws -> ImportOutcome
    {
        var warnings: [ImportWarning] = []
        var (bodies, agents) = try collect(source, agent: agent, warnings: &warnings)
        progress(.reading)
        let merged = try read(&bodies, &agents, &warnings)
        let subscription = merged.subscription
        do throws(SubscriptionError) { try subscription.requireLines() } catch { throw ImportError(error) }

        let needs = subscription.document.map { RuleSetNeed.list($0) } ?? []
        let gathered = try library.gather(
            needs, client: client, prepare: prepare, engine: engine, now: now(),
            progress: { progress(.ruleSets(done: $0, of: $1)) })
        progress(.checking)
        var draft = Draft(
            subscription, documentTags: merged.documentTags, ruleSets: gathered.local, options: options,
            hasQUIC: engine.capabilities.quic)
        let gate = KernelGate(
            engine: engine, client: client, now: now, progress: { progress(.rechecking(round: $0)) })
        let shaped: ShapedProfile
        do { shaped = try gate.pass(&draft) } catch {
            try? library.discard(gathered)
            throw error
        }

        let usable = Set(shaped.lineTags)
        let lines = draft.subscription.lines.filter { usable.contains($0.tag) }
        let details = bodies.filter { $0.provider == nil }.reduce(ProviderDetails()) { $0.completed(by: $1.details) }
        let kept = Self.keep(selection, in: lines)
        if let selection, !kept.kept { warnings.append(.selectionLost(name: selection.name)) }
        var title = details.title
        if case .link(_, let named?) = source { title = ProviderDetails.shown(named) ?? title }
        return ImportOutcome(
            format: subscription.format == .sip008 ? SubscriptionFormat.links.rawValue : subscription.format.rawValue,
            agents: agents, lines: lines, notes: subscription.info,
            dropped: subscription.dropped + draft.rejected + shaped.dropped, notices: subscription.notices,
            changes: merged.changes + draft.changes + shaped.changes,
            ruleSets: Self.reports(gathered, shaped.removedRuleSets, draft.rejectedRuleSets),
            quota: details.quota ?? QuotaNotes.read(subscription.info), title: title,
            intervalHours: details.intervalHours, warnings: warnings, unusedGroups: subscription.unusedGroups,
            unusedRules: subscription.unusedRules, profile: shaped.profile,
            domesticAddressesAreDirect: shaped.domesticAddressesAreDirect, engine: engine.version.description,
            selection: kept, bodies: bodies, gathered: gathered, fetchedAt: now())
    }

    /// Writes the rule-sets' index for an outcome that is stored.
    func settle(_ outcome: ImportOutcome) throws(StoreError) { try library.settle(outcome.gathered) }

    /// Removes rule-sets downloaded for an outcome that will not be stored.
    package func discard(_ outcome: ImportOutcome) throws(StoreError) { try library.discard(outcome.gathered) }

    // MARK: Fetching

    func collect(
        _ source: ImportSource, agent: String?, warnings: inout [ImportWarning]
    ) throws -> ([SourceBody], [AgentResult]) {
        switch source {
        case .content(let bytes):
            switch Inflate.inflate(bytes, limit: ImportSource.limit) {
            case .plain: return ([SourceBody(agent: nil, bytes: bytes)], [])
            case .inflated(let inflated): return ([SourceBody(agent: nil, bytes: inflated)], [])
            case .tooLarge:
                throw ImportError(SubscriptionError(.tooLarge, "The content unpacks to more than 32 MiB."))
            case .damaged: throw ImportError(SubscriptionError(.notASubscription, "The compressed content is damaged."))
            }
        case .stored(let bodies): return (bodies, Self.results(of: bodies))
        case .link(let link, _):
            if WebAddress(link)?.scheme == "http" { warnings.append(.insecureLink) }
            let wanted = agent.map { [$0] } ?? ["sing-box/\(engine.version)", Self.clashAgent]
            var bodies: [SourceBody] = []
            var agents: [AgentResult] = []
            var first: TransferError?
            // Both at once: a provider that answers slowly, or never, is waited for once.
            progress(.fetching(agent: wanted.joined(separator: ", ")))
            for (agent, result) in zip(wanted, fetch(wanted.map { FetchRequest(url: link, agent: $0) })) {
                var entry = AgentResult(agent: agent, status: nil, bytes: 0, lines: 0, added: 0, error: nil)
                switch result {
                case .success(let body):
                    bodies.append(body)
                    entry.status = body.status
                    entry.bytes = body.bytes.count
                case .failure(let error):
                    first = first ?? error
                    entry.status = error.status
                    entry.error = error.code.rawValue
                }
                agents.append(entry)
            }
            if bodies.isEmpty, let first { throw ImportError(first) }
            return (bodies, agents)
        }
    }

    private static func results(of bodies: [SourceBody]) -> [AgentResult] {
        bodies.filter { $0.provider == nil }.compactMap { body in
            body.agent.map {
                AgentResult(
                    agent: $0, status: body.status, bytes: body.bytes.count, lines: 0, added: 0, error: nil)
            }
        }
    }

    // MARK: Reading

    /// Reads every body and makes one subscription of them. A body that cannot be read costs only itself.
    private func read(
        _ bodies: inout [SourceBody], _ agents: inout [AgentResult], _ warnings: inout [ImportWarning]
    ) throws -> ReadBody {
        var schema: EngineSchema?
        var schemaAsked = false
        let ask: () -> EngineSchema? = {
            if !schemaAsked {
                schemaAsked = true
                schema = (try? engine.schema()).flatMap { EngineSchema($0) }
            }
            return schema
        }
        var read: [(position: Int, body: ReadBody)] = []
        var firstError: SubscriptionError?
        let own = bodies.indices.filter { bodies[$0].provider == nil }
        for (position, index) in own.enumerated() {
            let same = own[..<position].contains { bodies[$0].bytes == bodies[index].bytes }
            do throws(SubscriptionError) {
                let body =
                    same
                    ? nil : try readWithProviders(index, &bodies, &warnings, ask)
                if let body { read.append((index, body)) }
            } catch {
                firstError = firstError ?? error
                mark(&agents, bodies[index].agent) { $0.error = error.code.rawValue }
            }
        }
        guard !read.isEmpty else { throw ImportError(firstError ?? SubscriptionError(.empty, "The answer is empty.")) }
        for agent in agents {
            if let error = agent.error { warnings.append(.agentFailed(agent: agent.agent, code: error)) }
        }
        return Self.merge(read, bodies, &agents)
    }

    private static func merge(
        _ read: [(position: Int, body: ReadBody)], _ bodies: [SourceBody], _ agents: inout [AgentResult]
    ) -> ReadBody {
        // A provider's own sing-box configuration brings its routing along, so it is what the others are added to.
        let base = read.firstIndex { $0.body.subscription.format == .singBox } ?? read.startIndex
        var whole = read[base].body
        count(
            &agents, bodies[read[base].position].agent, whole.subscription.lines.count, whole.subscription.lines.count)
        for (place, other) in read.enumerated() where place != base {
            let (merged, added) = whole.subscription.merged(with: other.body.subscription)
            whole.subscription = merged
            count(&agents, bodies[other.position].agent, other.body.subscription.lines.count, added)
        }
        // The same body twice adds nothing and holds as many lines.
        for index in bodies.indices where bodies[index].provider == nil {
            guard
                let twin = read.first(where: { $0.position < index && bodies[$0.position].bytes == bodies[index].bytes }
                )
            else { continue }
            count(&agents, bodies[index].agent, twin.body.subscription.lines.count, 0)
        }
        return whole
    }

    private static func count(_ agents: inout [AgentResult], _ agent: String?, _ lines: Int, _ added: Int) {
        guard let agent, let at = agents.firstIndex(where: { $0.agent == agent }) else { return }
        agents[at].lines = lines
        agents[at].added = added
    }

    private func mark(_ agents: inout [AgentResult], _ agent: String?, _ change: (inout AgentResult) -> Void) {
        guard let agent, let at = agents.firstIndex(where: { $0.agent == agent }) else { return }
        change(&agents[at])
    }

    /// Reads one body, fetching the lists its lines stand in.
    private func readWithProviders(
        _ index: Int, _ bodies: inout [SourceBody], _ warnings: inout [ImportWarning], _ schema: () -> EngineSchema?
    ) throws(SubscriptionError) -> ReadBody {
        let body = bodies[index]
        let first = try ReadBody(body.bytes, capabilities: engine.capabilities, schema: schema)
        let wanted = first.subscription.providers
        guard !wanted.isEmpty else { return first }
        let kept = wanted.prefix(Self.mostProviders)
        if wanted.count > kept.count { warnings.append(.tooManyProviders(wanted.count)) }
        var lists: [String: [UInt8]] = [:]
        for provider in kept {
            if let stored = bodies.first(where: { $0.provider == provider.name && $0.agent == body.agent }) {
                lists[provider.name] = stored.bytes
            }
        }
        let missing = kept.filter { lists[$0.name] == nil }
        if !missing.isEmpty {
            progress(.fetchingProviders(missing.count))
            let agent = body.agent ?? Self.clashAgent
            for (provider, result) in zip(missing, fetch(missing.map { FetchRequest(url: $0.url, agent: agent) })) {
                switch result {
                case .success(var list):
                    lists[provider.name] = list.bytes
                    list.provider = provider.name
                    list.agent = body.agent
                    bodies.append(list)
                case .failure(let error):
                    warnings.append(.providerFailed(name: provider.name, code: error.code.rawValue))
                }
            }
        }
        guard !lists.isEmpty else { return first }
        return try ReadBody(body.bytes, capabilities: engine.capabilities, providers: lists, schema: schema)
    }

    // MARK: Results

    private static func keep(_ selection: Selection?, in lines: [Line]) -> SelectionResult {
        guard let selection else { return SelectionResult(line: ProfileTag.auto, kept: true) }
        if let line = LineIdentity.find(selection.identity, in: lines) {
            return SelectionResult(line: line.name, kept: true)
        }
        return SelectionResult(line: ProfileTag.auto, kept: false)
    }

    private static func reports(_ gathered: GatheredRuleSets, _ removed: [RemovedRuleSet], _ rejected: [RuleSetReport])
        -> [RuleSetReport]
    {
        var reports = gathered.reports
        let gone = removed.map {
            RuleSetReport(
                tag: $0.tag, status: .removed, url: $0.url.map { RuleSetLibrary.shown($0) }, reason: $0.reason)
        }
        for set in gone + rejected where !reports.contains(where: { $0.tag == set.tag && $0.status == .removed }) {
            if let at = reports.firstIndex(where: { $0.tag == set.tag }) {
                reports[at].status = .removed
                reports[at].reason = set.reason
            } else {
                reports.append(set)
            }
        }
        return reports
    }
}
