// Failures of the worker and on the way to it, with the exit status and the Chinese words the worker does not have.

import Commands
import Messages

extension Failure {
    static func workerNotRunning(_ path: String) -> Failure {
        Failure(
            "worker-not-running", .unavailable, Messages.workerNotRunning(path),
            remedy: Messages.workerNotRunningRemedy)
    }

    static func notInGroup(_ path: String) -> Failure {
        Failure("not-in-group", .notPermitted, Messages.notInGroup(path), remedy: Messages.notInGroupRemedy)
    }

    static func foreignWorker(_ path: String, _ user: UInt32) -> Failure {
        Failure(
            "foreign-worker", .notPermitted, Messages.foreignWorker(path, user), remedy: Messages.foreignWorkerRemedy)
    }

    static func workerTimeout(_ call: String) -> Failure {
        Failure("worker-timeout", .temporary, Messages.workerTimeout(call), remedy: Messages.workerLogRemedy)
    }

    static func workerUnreadable(_ call: String) -> Failure {
        Failure("worker-unreadable", .unavailable, Messages.workerUnreadable(call), remedy: Messages.sameReleaseRemedy)
    }

    static let workerGone = Failure(
        "worker-gone", .unavailable, Messages.workerGone, remedy: Messages.workerGoneRemedy)

    /// Traffic that another program's rule keeps out of the tunnel; nil when there is none.
    static func diverted(_ status: StatusReport) -> Failure? {
        guard let first = status.diversions.first else { return nil }
        let texts = status.diversions.map {
            Messages.diverted(
                family: $0.family, onlyNames: $0.onlyNames, link: $0.link, rule: $0.rule,
                isStopped: status.dataPath == .redirect)
        }
        let priority = first.rule.map { String($0.prefix { $0 != ":" }) }
        return Failure(
            "traffic-diverted", .failed, texts.dropFirst().reduce(texts[0]) { $0 + Text("", " ") + $1 },
            remedy: Messages.divertedRemedy(family: first.family, priority: priority))
    }

    /// A failure the worker reports. Its English words are kept; the Chinese ones come from the catalogue by code, with the
    /// worker's behind them where these say more.
    static func worker(_ failure: Commands.Failure) -> Failure {
        let code = failure.code.rawValue
        let known = Messages.workerFailures[code]
        let remedy = failure.remedy ?? known?.remedy.english ?? ""
        return Failure(
            code, exit(for: failure.code),
            Text(known?.message.chinese(keeping: failure.message) ?? failure.message, failure.message),
            remedy: Text(known?.remedy.chinese(keeping: remedy) ?? remedy, remedy))
    }

    /// Why the tunnel is not up; nil when nothing is wrong.
    static func reason(_ status: StatusReport) -> Failure? {
        guard let reason = status.reason.map(Failure.worker) else { return nil }
        return status.state == .blocked ? reason.whileBlocked : reason
    }

    /// The same failure of a tunnel that it left blocked: what that means, and the ways out.
    var whileBlocked: Failure {
        // Its words say so already.
        guard code != "worker-died" else { return self }
        // There is nothing that a `connect` could ask for an engine.
        let ways = code == "engine-host-gone" ? remedy : Messages.blockedRemedy + Text("", " ") + remedy
        return Failure(code, exit, message + Text("", " ") + Messages.blocked, remedy: ways, more: more)
    }

    private static func exit(for code: FailureCode) -> ExitCode {
        switch code {
        case .notPermitted, .notOwner: .notPermitted
        case .busy, .tooManyClients: .temporary
        case .notConnected: .notConnected
        case .noProfile, .badProfile, .stateDirectory: .broken
        case .badRequest, .unknownCall, .protocolVersion, .tooLarge, .stopping, .engineMissing, .engineExited,
            .engineTimeout, .untrustedSandbox, .engineHostGone, .userNamespaces, .noTUN, .noFirewall, .secondWorker:
            .unavailable
        default: .failed
        }
    }
}

extension Text {
    /// The Chinese words, with English ones of the worker behind them that say more than this text's own.
    func chinese(keeping words: String) -> String {
        // What a sentence leads up to, such as a command, may be in the Chinese words already.
        let point = words.split(separator: ": ").last.map { $0.hasSuffix(".") ? $0.dropLast() : $0 } ?? ""
        guard words != english, !chinese.contains(point) else { return chinese }
        let more = words.hasSuffix(".") ? words.dropLast() : words[...]
        return chinese.hasSuffix("。") ? "\(chinese.dropLast())（\(more)）。" : "\(chinese)（\(more)）"
    }
}
