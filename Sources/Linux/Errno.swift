// Error numbers and the error every failed system call becomes.

import Glibc

/// An errno(3) value. A struct and not an enum, so that a number this program has no name for stays itself.
package struct Errno: Error, Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// The reader has gone.
    package static let brokenPipe = Errno(rawValue: EPIPE)
    /// Operation not permitted.
    package static let notPermitted = Errno(rawValue: EPERM)
    /// No such file or directory.
    package static let noSuchFile = Errno(rawValue: ENOENT)
    /// No such process.
    package static let noSuchProcess = Errno(rawValue: ESRCH)
    /// Interrupted system call.
    package static let interrupted = Errno(rawValue: EINTR)
    /// Resource temporarily unavailable.
    package static let wouldBlock = Errno(rawValue: EAGAIN)
    /// Permission denied.
    package static let accessDenied = Errno(rawValue: EACCES)
    /// File exists.
    package static let exists = Errno(rawValue: EEXIST)
    /// No such device.
    package static let noSuchDevice = Errno(rawValue: ENODEV)
    /// Invalid argument.
    package static let invalid = Errno(rawValue: EINVAL)
    /// No space left on device.
    package static let noSpace = Errno(rawValue: ENOSPC)
    /// Operation not supported.
    package static let notSupported = Errno(rawValue: EOPNOTSUPP)
    /// Function not implemented.
    package static let noSystemCall = Errno(rawValue: ENOSYS)
    /// Too many levels of symbolic links.
    package static let symbolicLink = Errno(rawValue: ELOOP)
    /// Address already in use.
    package static let addressInUse = Errno(rawValue: EADDRINUSE)
    /// Connection reset by peer.
    package static let connectionReset = Errno(rawValue: ECONNRESET)
    /// Connection refused.
    package static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    /// File too large.
    package static let tooLarge = Errno(rawValue: EFBIG)
    /// Not a directory.
    package static let notADirectory = Errno(rawValue: ENOTDIR)
    /// Is a directory.
    package static let isDirectory = Errno(rawValue: EISDIR)

    /// The system's own words, as strerror(3) gives them.
    package var description: String {
        guard let text = strerror(rawValue) else { return "error \(rawValue)" }
        return String(cString: text)
    }
}

/// A system call that failed: which, on what, and what the system said.
package struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was being done, as a phrase: "opening", "listening on".
    package let operation: String
    /// To what: a path, a socket, a process. Never a secret.
    package let subject: String
    /// What the system said.
    package let errno: Errno

    package init(_ operation: String, _ subject: String, _ errno: Errno) {
        self.operation = operation
        self.subject = subject
        self.errno = errno
    }

    package var description: String {
        subject.isEmpty ? "\(operation): \(errno)" : "\(operation) \(subject): \(errno)"
    }
}

/// Turns a C-edge result (value or -errno) into a value or an error.
/// - Throws: `SystemCallError` naming the operation and its subject.
@discardableResult
package func check<Number: FixedWidthInteger & SignedInteger>(
    _ result: Number, _ operation: @autoclosure () -> String, _ subject: @autoclosure () -> String = ""
) throws(SystemCallError) -> Number {
    guard result < 0 else { return result }
    throw SystemCallError(operation(), subject(), Errno(rawValue: Int32(truncatingIfNeeded: 0 - result)))
}

/// Runs a glibc call that reports through errno, retrying while interrupted; errno is read in the very next expression.
/// - Throws: `SystemCallError` naming the operation and its subject.
@discardableResult
package func checkErrno<Number: FixedWidthInteger & SignedInteger>(
    _ operation: @autoclosure () -> String, _ subject: @autoclosure () -> String = "", _ body: () -> Number
) throws(SystemCallError) -> Number {
    while true {
        let result = body()
        let number = errno
        if result >= 0 { return result }
        if number == EINTR { continue }
        throw SystemCallError(operation(), subject(), Errno(rawValue: number))
    }
}
