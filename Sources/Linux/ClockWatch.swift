// Noticing that time has passed without this machine.

import CLinux

/// Hears of a clock that is set and of the end of a suspend; nothing else wakes it. Corresponds to timerfd_create(2) with
/// TFD_TIMER_CANCEL_ON_SET.
package final class ClockWatch {
    /// Readable when it happened.
    package let descriptor: Descriptor

    package init() throws(SystemCallError) {
        descriptor = Descriptor(owning: try check(cl_clock_watch(), "watching", "the clock"))
    }

    /// Takes what happened off the descriptor: a read fails, once (ECANCELED).
    package func drain() { _ = try? readSome(descriptor.number, limit: 8) }

    /// So long, in milliseconds, this machine has been suspended since it was started (CLOCK_BOOTTIME against
    /// CLOCK_MONOTONIC, clock_gettime(2)).
    package static var asleep: Int { Int(cl_clock_asleep() / 1_000_000) }
}
