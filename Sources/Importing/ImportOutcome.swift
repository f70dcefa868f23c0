// What an import came to: everything the report, the store and the verbs need.

package import ImportReport
package import JSON
package import RuleSets
package import Store
package import Subscriptions

/// What one User-Agent was given.
package struct AgentResult: Hashable, Sendable {
    /// The User-Agent asked with.
    package var agent: String
    /// The HTTP status; nil without an answer.
    package var status: Int?
    /// Bytes of the body.
    package var bytes: Int
    /// Lines in the body.
    package var lines: Int
    /// Lines no earlier agent was given.
    package var added: Int
    /// An import error code; nil when it was read.
    package var error: String?

    var json: JSON {
        [
            "agent": .string(agent), "status": .optional(status), "bytes": .int(bytes), "lines": .int(lines),
            "added": .int(added), "error": .optional(error),
        ]
    }
}

/// Something worth a sentence that is about the import and no single line.
package enum ImportWarning: Hashable, Sendable {
    /// The link is plain http: anyone on the way can read and change the subscription.
    case insecureLink
    /// One agent's fetch failed while the other's did not.
    case agentFailed(agent: String, code: String)
    /// A proxy-provider's list could not be had.
    case providerFailed(name: String, code: String)
    /// More proxy-providers than are fetched.
    case tooManyProviders(Int)
    /// The chosen line is gone; `auto` is used.
    case selectionLost(name: String)

    /// The code in the report.
    package var code: String {
        switch self {
        case .insecureLink: "insecure-link"
        case .agentFailed: "agent-failed"
        case .providerFailed: "provider-failed"
        case .tooManyProviders: "too-many-providers"
        case .selectionLost: "selection-lost"
        }
    }

    /// What it is about; nil when it is about the whole.
    package var subject: String? {
        switch self {
        case .insecureLink: nil
        case .agentFailed(let agent, let code): "\(agent): \(code)"
        case .providerFailed(let name, let code): "\(name): \(code)"
        case .tooManyProviders(let count): String(count)
        case .selectionLost(let name): name
        }
    }
}

/// The selection before and after.
package struct SelectionResult: Hashable, Sendable {
    /// The name of the line in use from now on; `auto` without a choice.
    package var line: String
    /// False when the chosen line is gone.
    package var kept: Bool
}

/// A finished import, not yet stored.
package struct ImportOutcome: Sendable {
    /// `sing-box`, `clash` or `links`.
    package var format: String
    /// What each User-Agent got.
    package var agents: [AgentResult]
    /// The lines the engine can run.
    package var lines: [Line]
    /// Names of pseudo-lines, which are messages of the provider.
    package var notes: [String]
    /// Lines left out, with the reason.
    package var dropped: [DroppedLine]
    /// What works with less than was written.
    package var notices: [Notice]
    /// What was rewritten.
    package var changes: [Change]
    /// Where each rule-set comes from.
    package var ruleSets: [RuleSetReport]
    /// Traffic and expiry as the provider tells them.
    package var quota: Quota?
    /// The provider's name of the subscription.
    package var title: String?
    /// Hours after which the provider wants to be asked again.
    package var intervalHours: Int?
    /// What the user should know before using it.
    package var warnings: [ImportWarning]
    /// Groups of the provider that were not taken over.
    package var unusedGroups: Int
    /// Rules of the provider that were not taken over.
    package var unusedRules: Int
    /// What the engine will run.
    package var profile: JSON
    /// Whether in Rule mode every domestic address goes direct.
    package var domesticAddressesAreDirect: Bool
    /// The version of the engine it was tried with.
    package var engine: String
    /// What became of the chosen line.
    package var selection: SelectionResult
    /// The provider's bodies, to be kept.
    package var bodies: [SourceBody]
    /// What the rule-set index will hold.
    package var gathered: GatheredRuleSets
    /// Seconds since 1970.
    package var fetchedAt: Int

    /// True when the profile names nothing that would have to be downloaded at a start.
    package var startsOffline: Bool {
        profile["route"]["rule_set"].listed.allSatisfy { $0["type"].string != "remote" }
    }

    /// The stored form of the lines.
    package var storedLines: [StoredLine] {
        lines.map { line in
            StoredLine(
                identity: line.identity, tag: line.tag, name: line.name, type: line.type, server: line.server,
                port: line.port, multiplier: line.multiplier)
        }
    }

    /// The report, as `import --json` and `convert --report` write it.
    package var report: JSON {
        [
            "format": .string(format), "title": .optional(title), "engine": .string(engine),
            "agents": .array(agents.map(\.json)), "lines": .array(lines.map { Self.json($0) }),
            "notes": .strings(notes),
            "dropped": .array(dropped.map { Self.json($0) }), "notices": .array(notices.map { Self.json($0) }),
            "changes": .array(
                changes.map { ["where": .string($0.place), "what": .string($0.what), "reason": .string($0.reason)] }),
            "ruleSets": .array(ruleSets.map(\.json)), "quota": quota?.shown ?? .null,
            "intervalHours": .optional(intervalHours),
            "selection": ["line": .string(selection.line), "kept": .bool(selection.kept)],
            "startsOffline": .bool(startsOffline),
            "warnings": .array(
                warnings.map { ["code": .string($0.code), "subject": .optional($0.subject)] }),
            "unused": ["groups": .int(unusedGroups), "rules": .int(unusedRules)],
        ]
    }

    private static func json(_ line: Line) -> JSON {
        [
            "id": .string(line.identity), "name": .string(line.name), "type": .string(line.type),
            "server": .string(line.server), "port": .optional(line.port),
            "multiplier": line.multiplier.map { JSON.double($0) } ?? .null,
        ]
    }

    private static func json(_ line: DroppedLine) -> JSON {
        [
            "name": .string(line.name), "type": .optional(line.type), "reason": .string(line.reason.rawValue),
            "field": .optional(line.field), "detail": .optional(line.detail),
        ]
    }

    private static func json(_ notice: Notice) -> JSON {
        ["name": .optional(notice.name), "code": .string(notice.code.rawValue), "field": .optional(notice.field)]
    }
}
