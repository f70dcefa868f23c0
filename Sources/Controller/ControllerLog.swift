// The controller's own log: which verb ran and how it ended. No names, no links, no addresses.

import Linux
import Logging
import Store

/// The log in the state directory, for the user alone.
enum ControllerLog {
    private static let name = "controller.log"

    /// Notes how a verb ended. Verbs that only look are not noted, and a log that cannot be written is nobody's trouble.
    static func note(_ verb: String, _ exit: ExitCode, code: String?, _ context: Context) {
        guard !["status", "lines", "logs", "completion", "connections", "profile", "forget", "report"].contains(verb),
            let folder = try? context.state().logFolder(),
            let sink = try? FileSink(directory: folder, name: name, limit: 256 << 10)
        else { return }
        let log = Log("controller", sink: sink)
        if let code {
            log(.warning, verb, ["exit": "\(exit.rawValue)", "code": code])
        } else {
            log(.info, verb, ["exit": "\(exit.rawValue)"])
        }
    }

    /// The log, open for reading; nil when there is none.
    static func open(_ context: Context) throws -> Descriptor? {
        let folder = try context.state().logFolder()
        do { return try folder.open(name) } catch {
            if error.errno == .noSuchFile { return nil }
            throw error
        }
    }

    /// Removes it.
    static func clear(_ context: Context) throws {
        let folder = try context.state().logFolder()
        try folder.remove(name)
        try folder.remove(name + ".1")
    }
}
