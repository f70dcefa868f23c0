// Waiting for a few descriptors without a loop.

import CLinux
import Glibc

/// Waits until one of the descriptors is ready. Corresponds to poll(2); retried while interrupted.
/// - Parameter milliseconds: at most so long; nil for ever.
/// - Returns: what each is ready for, in order; all empty when the time is over.
package func wait(
    for descriptors: [(descriptor: Int32, interest: Readiness)], milliseconds: Int?
) -> [Readiness] {
    let deadline = milliseconds.map { Moment.now.adding(milliseconds: $0) }
    var waiting = descriptors.map { descriptor, interest in
        pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: interest.rawValue), revents: 0)
    }
    while true {
        let left = deadline.map { Int32(clamping: $0.milliseconds(since: Moment.now)) } ?? -1
        let ready = poll(&waiting, nfds_t(waiting.count), left)
        if ready < 0, errno == EINTR, left != 0 { continue }
        // The bits of poll(2) and epoll(7) are the same (POLLIN, POLLOUT, POLLERR, POLLHUP, POLLRDHUP).
        return waiting.map { Readiness(rawValue: UInt32(UInt16(bitPattern: $0.revents))) }
    }
}

/// Reads at most 64 KiB at a place of a file; empty at its end. Corresponds to pread(2).
package func readAt(_ descriptor: Int32, offset: Int64) throws(SystemCallError) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = try checkErrno("reading from", "descriptor \(descriptor)") {
        pread(descriptor, &buffer, buffer.count, off_t(offset))
    }
    return Array(buffer.prefix(count))
}

/// Signals taken through a descriptor instead of their default action, for as long as the owner lives. Corresponds to
/// signalfd(2); to be made before other threads are.
package final class SignalWatch {
    /// Readable when a signal has come.
    package let descriptor: Int32
    private let numbers: [Int32]

    /// Ctrl-C, and what ends a program politely: SIGINT, SIGTERM, SIGHUP.
    package static let endings: [Int32] = [SIGINT, SIGTERM, SIGHUP]

    /// Ctrl-C alone.
    package static let interrupt: [Int32] = [SIGINT]

    package init(_ numbers: [Int32] = endings) throws(SystemCallError) {
        self.numbers = numbers
        descriptor = try check(cl_signal_descriptor(numbers, Int32(numbers.count)), "taking signals")
    }

    /// The next signal; nil when none waits.
    package func next() -> Int32? {
        var sender: Int32 = 0
        let number = cl_signal_next(descriptor, &sender)
        return number > 0 ? number : nil
    }

    deinit {
        Descriptor(owning: descriptor).close()
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}
