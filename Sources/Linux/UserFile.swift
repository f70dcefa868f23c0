// Reading and writing files the user named on the command line, wherever they are.

import Glibc

/// Files of the user's own choice. Links are followed: the user may name what they like.
package enum UserFile {
    /// Reads a file, a pipe or a device to its end.
    /// - Parameter limit: bytes; more is `tooLarge`.
    package static func read(_ path: String, limit: Int) throws(SystemCallError) -> [UInt8] {
        let file = Descriptor(owning: try checkErrno("opening", path) { open(path, O_RDONLY | O_CLOEXEC) })
        return try readAll(file.number, limit: limit, subject: path)
    }

    /// Writes a file only its owner may read, replacing what is there.
    package static func write(_ path: String, _ bytes: [UInt8]) throws(SystemCallError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        let file = Descriptor(owning: try checkErrno("opening", path) { open(path, flags, 0o600) })
        try writeAll(file.number, bytes, subject: path)
    }

    /// Reads standard input to its end.
    package static func readStandardInput(limit: Int) throws(SystemCallError) -> [UInt8] {
        try readAll(STDIN_FILENO, limit: limit, subject: "standard input")
    }
}
