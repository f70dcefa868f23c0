// What every verb works with: the user, the state directory, the output, the worker's socket.

import Commands
import Linux
package import Messages
package import Transfer

/// The surroundings of one run of the program.
package final class Context {
    /// Where results and messages go.
    package let output: Output
    /// The language of messages.
    package var language: Language { output.language }
    /// Looks up an environment variable.
    package let variable: (String) -> String?
    /// The user's id.
    package let user: UInt32
    /// `--state-dir`, or /var/lib/trocket/users/UID.
    package let stateDirectory: String
    /// True when `--state-dir` was given.
    package let stateDirectoryIsGiven: Bool
    /// The worker's socket.
    package let socket: String
    /// True once the user has pressed Ctrl-C, in a verb that takes it by itself.
    package var isInterrupted: () -> Bool = { false }
    /// The HTTP client all of a verb's transfers share.
    package private(set) lazy var client = HTTPClient()

    package init(
        output: Output, variable: @escaping (String) -> String? = Surroundings.variable,
        user: UInt32 = Surroundings.user, stateDirectory: String? = nil
    ) {
        self.output = output
        self.variable = variable
        self.user = user
        self.stateDirectory = stateDirectory ?? "/var/lib/trocket/users/\(user)"
        stateDirectoryIsGiven = stateDirectory != nil
        socket = Self.socketPath(variable)
    }

    /// `TROCKET_SOCKET`, else the installed service's socket.
    static func socketPath(_ variable: (String) -> String?) -> String {
        let given = variable("TROCKET_SOCKET") ?? ""
        return given.isEmpty ? CommandProtocol.defaultSocket : given
    }

    /// The directory with `geosite-cn.srs` and `geoip-cn.srs`: `TROCKET_RULE_SETS`, else the installed one.
    package var ruleSetDirectory: String {
        let given = variable("TROCKET_RULE_SETS") ?? ""
        return given.isEmpty ? "/usr/share/trocket/rule-sets" : given
    }
}
