// Everything `status` shows: the worker's word, the engine's figures, the proof, the subscription's quota.

package import Commands
package import EngineControl
package import JSON
import Linux
package import Messages
import Notation
import Profiles
package import Store

/// How things stand at one moment.
package struct Standing {
    /// When a new proof is taken.
    package enum Proving {
        case never
        /// Only if connection, engine, line or mode are not those of the last proof, or it is old; bounded in milliseconds.
        case unlessFresh(Int)
        /// In any case; bounded in milliseconds.
        case always(Int)

        /// For whoever asks how things are: long enough for the second request of a proof, see `Proof.take`.
        package static let inPassing = unlessFresh(5000)
    }

    /// The worker's word.
    package var status: StatusReport
    /// What the tunnel does not cover, by code and sentence.
    private let exceptions: [(code: String, text: Text)]
    /// nil when the engine does not run or is not ours.
    package var engine: EngineSnapshot?
    /// The tunnel is ours and its engine does not answer.
    package private(set) var isSilent = false
    /// The last proof of this very connection, line and mode; nil without one.
    package var proof: Proof?
    /// Known only while watching.
    package var rate: TrafficRate?
    /// What the state directory remembers.
    package var state: State

    /// Takes a proof of a line and mode just put in force, then looks at everything.
    /// - Parameter limit: milliseconds for the proof.
    init(_ context: Context, _ tunnel: Tunnel, provingLine line: String, mode: RoutingMode, limit: Int) {
        let taken = Proof.prove(context, milliseconds: limit)
        self.init(context, tunnel, proving: .never)
        proof = nil
        if let engine {
            settle(taken, engine, context, tunnel, line: line, mode: mode, limit: limit)
        } else {
            proof = taken
        }
    }

    /// Looks at everything. Without a proof this takes a few milliseconds.
    package init(_ context: Context, _ tunnel: Tunnel, proving: Proving) {
        status = tunnel.status
        exceptions = status.exceptions
        // A damaged state is the business of the verbs that need it; the connection can be looked at without.
        state = (try? context.state().load()) ?? State()
        do throws(EngineFailure) {
            engine = try tunnel.api?.snapshot(selector: ProfileTag.proxy, automatic: ProfileTag.auto)
        } catch { isSilent = true }
        guard status.state == .connected, let engine else { return }
        let last = Proof.load(context).flatMap { $0.subject == subject(engine) ? $0 : nil }
        switch proving {
        case .never: proof = last
        case .unlessFresh where last?.stands(for: subject(engine), now: Int(wallClock())) == true: proof = last
        case .unlessFresh(let limit), .always(let limit): prove(context, tunnel, milliseconds: limit)
        }
    }

    private func subject(_ engine: EngineSnapshot) -> String {
        Proof.subject(status, line: engine.selected, automatic: engine.automatic, mode: engine.mode)
    }

    /// Takes a proof. Another command may switch line or mode while the request is under way, and nobody knows through which
    /// of them it went: then it counts for neither, and the new one is proven, once.
    private mutating func prove(_ context: Context, _ tunnel: Tunnel, milliseconds: Int) {
        for _ in 1...2 {
            guard let before = engine else { return }
            let taken = Proof.prove(context, milliseconds: milliseconds)
            guard let after = try? tunnel.api?.snapshot(selector: ProfileTag.proxy, automatic: ProfileTag.auto) else {
                return
            }
            engine = after
            guard Self.isSame(before, after) else { continue }
            return keep(taken, of: after, context)
        }
    }

    /// Keeps a proof if what was put in force still is. Another command may have put something else in force meanwhile: a
    /// line is not what was asked for, a mode is proven anew.
    private mutating func settle(
        _ taken: Proof, _ engine: EngineSnapshot, _ context: Context, _ tunnel: Tunnel, line: String, mode: RoutingMode,
        limit: Int
    ) {
        guard engine.selected == line else { return }
        if engine.mode == mode.rawValue {
            keep(taken, of: engine, context)
        } else {
            prove(context, tunnel, milliseconds: limit)
        }
    }

    private mutating func keep(_ taken: Proof, of engine: EngineSnapshot, _ context: Context) {
        var taken = taken
        taken.subject = subject(engine)
        taken.save(context)
        proof = taken
    }

    /// Whether a request between these two moments went through the line of both.
    private static func isSame(_ before: EngineSnapshot, _ after: EngineSnapshot) -> Bool {
        guard before.selected == after.selected, before.mode == after.mode else { return false }
        // The automatic choice may use its first line only now.
        return before.selected != ProfileTag.auto || before.automatic == nil || before.automatic == after.automatic
    }

    /// The name of the line in use, or of the one chosen while there is no engine to ask.
    package var line: String? {
        guard let tag = engine?.selected else {
            let chosen = state.chosen()
            return state.subscription == nil ? nil : chosen.gone ?? chosen.choice.name
        }
        return state.name(ofTag: tag)
    }

    /// What `auto` uses now.
    package var automatic: String? {
        guard line == ProfileTag.auto, let tag = engine?.automatic else { return nil }
        return state.name(ofTag: tag)
    }

    /// The line as a person reads it.
    var lineText: Text {
        line == ProfileTag.auto
            ? Messages.automatic(automatic.map { DisplayWidth.cut($0, to: Table.widestName) })
            : Text(verbatim: DisplayWidth.cut(line ?? "", to: Table.widestName))
    }

    /// What is wrong: in the worker's words, else a line that does not answer.
    package var reason: Failure? {
        if let reason = Failure.reason(status) { return reason }
        if isSilent {
            return Failure(
                "engine-not-answering", .unavailable, Messages.engineNotAnswering,
                remedy: Messages.engineNotAnsweringRemedy)
        }
        if let failure = Failure.diverted(status) { return failure }
        guard let error = proof?.error else { return nil }
        return Failure.lineNotAnswering(lineText, error)
    }

    /// Whether the kill switch is on; without a tunnel, whether the next `connect` will turn it on.
    package var killSwitch: Bool {
        status.state == .disconnected ? state.preferences.killSwitch ?? status.killSwitch : status.killSwitch
    }

    /// What a person chose and can choose otherwise at any time.
    var choice: [String] { [line ?? "", mode, killSwitch ? "kill switch" : ""] }

    /// `rule` or `global`.
    package var mode: String { engine?.mode.lowercased() ?? state.preferences.mode ?? RoutingMode.rule.lowercase }
}

extension Failure {
    static func lineNotAnswering(_ line: Text, _ error: String) -> Failure {
        Failure(
            "line-not-answering", .failed,
            Messages.lineNotAnswering(line, Messages.delayErrors[error] ?? Text(verbatim: error)),
            remedy: DefaultRoute.isThere == false ? Messages.noNetworkRemedy : Messages.lineNotAnsweringRemedy)
    }
}

extension Standing {
    /// The object of `status --json`.
    package func json(_ language: Language) -> JSON {
        var object: JSON = [
            "state": .string(status.state.rawValue), "stage": .optional(status.stage?.rawValue),
            "reason": reason?.json(language)["error"] ?? .null,
            "line": .optional(line), "automatic": .optional(automatic), "mode": .string(mode),
            "since": .optional(status.since.map { Date.text($0) }), "killSwitch": .bool(killSwitch),
            "confirmBy": .optional(status.confirmBy.map { Date.text($0) }), "mine": .bool(status.mine),
            "owner": .optional(status.owner), "verified": .bool(status.verified),
            "dataPath": .string(status.dataPath.rawValue), "domesticFastPath": .bool(status.domesticFastPath),
            "proof": proof?.json ?? .null, "traffic": traffic,
            "memory": .optional(engine?.traffic.memory), "engine": engineObject,
            "quota": state.subscription?.quota.map(Self.quota) ?? .null, "dns": status.dns,
            "notCovered": .strings(exceptions.map(\.code)), "otherClients": .strings(status.otherClients),
            "notices": .array(
                notices.map { ["code": .string($0.code), "message": .string($0.text(language))] }),
        ]
        if let network = status.network {
            object["network"] = ["host": .strings(network.host), "sandbox": .strings(network.sandbox)]
        }
        return object
    }

    /// What works with less than it could, and what the tunnel does not cover: code and sentence.
    var notices: [(code: String, text: Text)] {
        let hasTunnel = status.state == .connected || status.state == .reconnecting
        let path = hasTunnel && status.dataPath == .tun ? [("nft-missing", Messages.netfilterMissing)] : []
        let resolver =
            status.isResolverRefusing
            ? [("dns-not-secured", Messages.resolverRefuses(isStopped: status.dataPath == .redirect))] : []
        return path + resolver + exceptions
    }

    /// Rates are null unless watched: the engine counts them a second at a time.
    private var traffic: JSON {
        [
            "up": .optional(rate?.up), "down": .optional(rate?.down), "upTotal": .optional(engine?.traffic.upload),
            "downTotal": .optional(engine?.traffic.download),
        ]
    }

    private var engineObject: JSON {
        guard status.engine != nil || engine != nil else { return .null }
        return [
            "version": .optional(engine?.version), "pid": .optional(status.engine?.pid),
            "restarts": .optional(status.engine?.restarts),
        ]
    }

    private static func quota(_ quota: Quota) -> JSON {
        [
            "upload": .optional(quota.upload), "download": .optional(quota.download), "total": .optional(quota.total),
            "expire": .optional(quota.expire.map { Date.text($0) }),
        ]
    }

    /// The lines of `status` for a person.
    package func text(_ language: Language) -> [String] {
        let now = Int(wallClock())
        var rows: [(Text, Text)] = []
        var state = Messages.states[status.state.rawValue] ?? Text(verbatim: status.state.rawValue)
        if let stage = status.stage {
            state = state + Text("：", ": ") + (Messages.stages[stage.rawValue] ?? Text("", ""))
        }
        if let since = status.since, status.state != .disconnected {
            state = state + Messages.since(Figures.duration(seconds: now - since))
        }
        if status.owner != nil, !status.mine { state = state + Text("（", " (") + Messages.ofAnother + Text("）", ")") }
        rows.append((Messages.stateLabel, state))
        if let confirmBy = status.confirmBy {
            rows.append((Text("", ""), Messages.confirmWithin(max(0, confirmBy - now))))
        }
        if let reason {
            rows.append((Messages.reasonLabel, reason.message))
            rows.append((Text("", ""), Text("→ ", "→ ") + reason.remedy))
        }
        if line != nil { rows.append((Messages.lineLabel, lineText)) }
        rows.append(
            (
                Messages.modeLabel,
                Messages.mode(mode) + (status.domesticFastPath ? Messages.domesticFastPath : Text("", ""))
            ))
        if status.state == .connected, status.mine || engine != nil {
            rows.append((Messages.proofLabel, proofText(now)))
        }
        rows.append((Messages.killSwitchLabel, killSwitchText))
        if let engine {
            var traffic = Messages.traffic(Figures.bytes(engine.traffic.upload), Figures.bytes(engine.traffic.download))
            if let rate { traffic = traffic + Messages.rates(Figures.bytes(rate.up), Figures.bytes(rate.down)) }
            rows.append((Messages.trafficLabel, traffic))
            let memory = Figures.bytes(engine.traffic.memory)
            rows.append(
                (Messages.engineLabel, Messages.engine(engine.version, memory, status.engine?.restarts ?? 0)))
        }
        if let dns = Self.dnsText(status.dns) { rows.append((Messages.dnsLabel, dns)) }
        if let quota = self.state.subscription?.quota { rows.append((Messages.quotaLabel, Self.quotaText(quota))) }
        for (position, notice) in notices.enumerated() {
            rows.append((position == 0 ? Messages.noticeLabel : Text("", ""), notice.text))
        }
        rows += status.otherClients.map { (Messages.othersLabel, Messages.clientName($0)) }
        return Table.lines(rows.map { [$0.0(language), $0.1(language)] }) + listing(language)
    }

    private var killSwitchText: Text {
        guard killSwitch else { return Messages.off }
        return status.state == .disconnected ? Messages.onAtTheNextConnect : Messages.on
    }

    private func proofText(_ now: Int) -> Text {
        guard let proof else { return Messages.unproven }
        let age = Figures.duration(seconds: now - proof.at)
        if let milliseconds = proof.milliseconds { return Messages.proven(milliseconds, age) }
        return Messages.notProven(Messages.delayErrors[proof.error ?? ""] ?? Text(verbatim: proof.error ?? ""), age)
    }

    /// How names are kept inside the tunnel, in a sentence; nil without a tunnel.
    static func dnsText(_ dns: JSON) -> Text? {
        guard let method = dns["method"].string else { return nil }
        let known = Messages.dns[method]
        let detail = dns["detail"].string ?? known?.english ?? method
        let how = Text(known?.chinese(keeping: detail) ?? detail, detail)
        guard let secured = dns["secured"].bool else { return how }
        return (secured ? Text("已接管：", "inside the tunnel: ") : Text("没有完全接管：", "not fully inside the tunnel: ")) + how
    }

    private static func quotaText(_ quota: Quota) -> Text {
        Messages.quota(
            used: Figures.bytes(quota.used),
            total: quota.total.map { Figures.bytes($0) }, expires: quota.expire.map { Date.day($0) })
    }

    private func listing(_ language: Language) -> [String] {
        guard let network = status.network else { return [] }
        return ["", Messages.hostSide(language)] + network.host + ["", Messages.sandboxSide(language)] + network.sandbox
    }
}
