// Every error of the modules below as a failure with a code, a remedy and an exit status.

import EngineControl
import Importing
import Linux
import Messages
import Store
import Transfer

extension Failure {
    /// The failure an error stands for.
    package init(describing error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as EngineFailure: self = .engine(error)
        case let error as SystemCallError: self = .system(error)
        case let error as UntrustedFile:
            self.init(
                "untrusted-file", .broken, Messages.untrustedFile(error.path, error.problem),
                remedy: Messages.untrustedFileRemedy(error.path))
        case let error as TransferError: self = .transfer(error)
        case let error as ImportError: self.init(error)
        case let error as StoreError:
            let exit: ExitCode = error.code == .unusable ? .notPermitted : .broken
            self.init(error.code.rawValue, exit, error.message, remedy: error.remedy)
        default:
            self.init("unexpected", .failed, Text(verbatim: String(describing: error)), remedy: Messages.reportRemedy)
        }
    }

    private static func system(_ error: SystemCallError) -> Failure {
        let message = Messages.system(error.operation, error.subject, error.errno.text)
        switch error.errno {
        case .accessDenied, .notPermitted:
            return Failure("not-permitted", .notPermitted, message, remedy: Messages.permissionRemedy(error.subject))
        case .noSpace:
            return Failure("no-space", .failed, message, remedy: Messages.noSpaceRemedy)
        default:
            return Failure("system", .failed, message, remedy: Messages.reportRemedy)
        }
    }

    private static func transfer(_ error: TransferError) -> Failure {
        let exit: ExitCode = error.code == .tooLarge || error.code == .tooManyRedirects ? .badInput : .temporary
        let detail = Text(ImportError.chinese(error), error.detail)
        return Failure(
            error.code.rawValue, exit, Messages.transfer(error.server, detail), remedy: Messages.networkRemedy)
    }

    private static func engine(_ error: EngineFailure) -> Failure {
        switch error {
        case .missing(let searched):
            Failure(
                "engine-missing", .unavailable, Messages.engineMissing(searched.first ?? ""),
                remedy: Messages.engineMissingRemedy)
        case .notStarted(let path, let reason):
            Failure(
                "engine-not-started", .unavailable,
                Messages.engineNotStarted(
                    path, Text(reason.errno.text(.chinese), "\(reason.operation): \(reason.errno)")),
                remedy: Messages.engineMissingRemedy)
        case .notAnEngine(let path):
            Failure(
                "engine-unreadable", .unavailable, Messages.engineUnreadable(path),
                remedy: Messages.engineMissingRemedy)
        case .tooOld(let path, let version):
            Failure(
                "engine-too-old", .unavailable,
                Messages.engineTooOld(path, version.description, EngineVersion.minimum.description),
                remedy: Messages.engineTooOldRemedy(EngineVersion.minimum.description))
        case .rejected(let words):
            Failure(
                "kernel-rejected", .badInput, Messages.engineRejected(words), remedy: Messages.engineRejectedRemedy)
        case .ended(let words):
            Failure("engine-ended", .unavailable, Messages.engineEnded(words), remedy: Messages.reportRemedy)
        case .timeout(let what):
            Failure("engine-timeout", .unavailable, Messages.engineTimeout(what), remedy: Messages.reportRemedy)
        case .system(let error): .system(error)
        case .unreachable(let detail):
            Failure(
                "api-unreachable", .unavailable, Messages.apiUnreachable(detail), remedy: Messages.reconnectRemedy)
        case .refused(let status, let message):
            Failure(
                "api-refused", .failed, Messages.apiRefused(status, message), remedy: Messages.reconnectRemedy)
        }
    }
}
