// Owned file descriptors, and reading and writing them.

import CLinux
import Glibc

/// An open file descriptor that is closed when its owner goes away.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, for calls that borrow it.
    package let number: Int32

    /// Takes over an open descriptor.
    package init(owning number: Int32) { self.number = number }

    deinit { _ = Glibc.close(number) }

    /// Gives up ownership: the caller closes the number.
    package consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// A second descriptor for the same open file, closed at exec. Corresponds to fcntl(2) F_DUPFD_CLOEXEC.
    /// - Parameter minimum: the least number it may get.
    package borrowing func duplicate(atLeast minimum: Int32 = 3) throws(SystemCallError) -> Descriptor {
        Descriptor(owning: try check(cl_duplicate(number, minimum), "duplicating a descriptor"))
    }

    /// Switches O_NONBLOCK.
    package borrowing func setNonBlocking(_ on: Bool) throws(SystemCallError) {
        try check(cl_set_nonblocking(number, on ? 1 : 0), "setting a descriptor's blocking mode")
    }
}

/// What a non-blocking read found.
package enum ReadOutcome {
    case bytes([UInt8])
    case wouldBlock
    case end
}

/// Reads at most `limit` bytes from a descriptor. Corresponds to read(2).
package func readSome(_ descriptor: Int32, limit: Int = 65_536) throws(SystemCallError) -> ReadOutcome {
    var count = 0
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, used in
        repeat {
            count = Glibc.read(descriptor, buffer.baseAddress, limit)
            failure = count < 0 ? errno : 0
        } while failure == EINTR
        used = max(0, count)
    }
    if count > 0 { return .bytes(bytes) }
    if count == 0 { return .end }
    if failure == EAGAIN { return .wouldBlock }
    throw SystemCallError("reading from", "descriptor \(descriptor)", Errno(rawValue: failure))
}

/// Reads to the end of a descriptor.
/// - Throws: `SystemCallError`, with `tooLarge` past the limit.
package func readAll(_ descriptor: Int32, limit: Int, subject: String) throws(SystemCallError) -> [UInt8] {
    var all: [UInt8] = []
    while true {
        switch try readSome(descriptor, limit: min(65_536, limit - all.count + 1)) {
        case .bytes(let bytes):
            all.append(contentsOf: bytes)
            if all.count > limit { throw SystemCallError("reading", subject, .tooLarge) }
        case .end: return all
        case .wouldBlock: throw SystemCallError("reading", subject, .wouldBlock)
        }
    }
}

/// Reads a file from its beginning, wherever it was read to before. Corresponds to lseek(2) and read(2).
package func readFromStart(_ descriptor: Int32, limit: Int, subject: String) throws(SystemCallError) -> [UInt8] {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemCallError("reading", subject, Errno(rawValue: errno)) }
    return try readAll(descriptor, limit: limit, subject: subject)
}

/// Writes every byte. Corresponds to write(2).
/// - Parameter waiting: a descriptor that does not block is waited for; else that it would block is an error.
package func writeAll(
    _ descriptor: Int32, _ bytes: [UInt8], subject: String = "", waiting: Bool = false
) throws(SystemCallError) {
    var sent = 0
    while sent < bytes.count {
        let start = sent
        do throws(SystemCallError) {
            sent += try checkErrno("writing to", subject) {
                bytes.withUnsafeBytes { buffer in
                    let rest = UnsafeRawBufferPointer(rebasing: buffer[start...])
                    return Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
            }
        } catch {
            guard waiting, error.errno == .wouldBlock else { throw error }
            _ = wait(for: [(descriptor, .writable)], milliseconds: nil)
        }
    }
}

/// A pipe, both ends closed at exec. Corresponds to pipe2(2).
package struct Pipe: ~Copyable {
    /// The end to read from.
    package let reader: Descriptor
    /// The end to write to.
    package let writer: Descriptor

    package init() throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        try check(cl_pipe(&ends), "creating a pipe")
        reader = Descriptor(owning: ends[0])
        writer = Descriptor(owning: ends[1])
    }

    /// Closes our copy of the writing end and keeps the reading one, once a child holds the other.
    package consuming func keepingReader() -> Descriptor { reader }
}

/// Standard output, unbuffered, so that a line printed before a crash still arrives. It may not block: terminals and pipes
/// share that setting with whoever else holds them.
package func writeStandardOutput(_ text: String) throws(SystemCallError) {
    try writeAll(STDOUT_FILENO, Array(text.utf8), subject: "standard output", waiting: true)
}

/// Standard error, unbuffered. Failures are ignored: there is nowhere left to report them.
package func writeStandardError(_ text: String) { try? writeAll(STDERR_FILENO, Array(text.utf8)) }

/// Occupies each of the descriptors 0, 1 and 2 that the caller closed, so that no file opened later gets that number and is
/// taken for a standard stream. Reading from and writing to the placeholder fail as on a closed descriptor.
package func reserveStandardDescriptors() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
        // The lowest free number is the closed one.
        _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
    }
}
