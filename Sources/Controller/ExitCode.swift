// How the program ends, as a number other programs rely on.

/// Exit statuses, after sysexits.h(3) where one fits.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    /// The operation failed.
    case failed = 1
    /// Not connected, for verbs that need it.
    case notConnected = 2
    /// EX_USAGE
    case usage = 64
    /// EX_DATAERR: bad input data.
    case badInput = 65
    /// EX_UNAVAILABLE: worker or engine missing or unusable.
    case unavailable = 69
    /// EX_TEMPFAIL: a temporary network failure.
    case temporary = 75
    /// EX_NOPERM
    case notPermitted = 77
    /// EX_CONFIG: broken state or configuration.
    case broken = 78
    /// Ctrl-C: 128 and the number of SIGINT, as shells count.
    case interrupted = 130
}
