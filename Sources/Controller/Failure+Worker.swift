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

    /// A failure the worker reports. Its English words are kept; the Chinese ones come from the catalogue by code.
    static func worker(_ failure: Commands.Failure) -> Failure {
        let code = failure.code.rawValue
        let known = Messages.workerFailures[code]
        let remedy = failure.remedy ?? known?.remedy.english ?? ""
        return Failure(
            code, exit(for: failure.code), Text(known?.message.chinese ?? failure.message, failure.message),
            remedy: Text(known?.remedy.chinese ?? remedy, remedy))
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
