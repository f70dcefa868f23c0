// What goes wrong with the engine's program and with its control API.

package import Linux

/// A failure of the engine. Never holds a configuration or a secret.
package enum EngineFailure: Error, Hashable, Sendable {
    /// Nothing executable at any of these paths.
    case missing(searched: [String])
    /// The program cannot be started.
    case notStarted(path: String, SystemCallError)
    /// The program is no sing-box, or prints what cannot be read.
    case notAnEngine(path: String)
    /// Older than `EngineVersion.minimum`.
    case tooOld(path: String, EngineVersion)
    /// The engine refuses the configuration, in its own words.
    case rejected(String)
    /// The engine ended by itself, with its last words.
    case ended(String)
    /// It did not finish or answer in time; what was waited for.
    case timeout(String)
    /// A file or a process of our own could not be made.
    case system(SystemCallError)
    /// The control API does not answer.
    case unreachable(String)
    /// The control API answered with this status.
    case refused(status: Int, message: String)
}
