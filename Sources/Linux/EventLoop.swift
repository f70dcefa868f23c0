// One thread, one epoll: descriptors, timers and signals, each with the closure to run.

import CLinux

/// A moment on CLOCK_BOOTTIME, which counts the time a machine sleeps.
package struct Moment: Comparable, Hashable, Sendable {
    /// Nanoseconds since boot.
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Now.
    package static var now: Moment { Moment(nanoseconds: cl_clock_boot()) }

    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// This moment and so many milliseconds.
    package func adding(milliseconds: Int) -> Moment {
        Moment(nanoseconds: nanoseconds &+ UInt64(max(0, milliseconds)) &* 1_000_000)
    }

    /// Milliseconds from an earlier moment to this one; 0 when it is later.
    package func milliseconds(since earlier: Moment) -> Int {
        earlier > self ? 0 : Int((nanoseconds - earlier.nanoseconds) / 1_000_000)
    }
}

/// Seconds since 1970 with their fraction, for dates shown to people.
package func wallClock() -> Double { Double(cl_clock_real()) / 1e9 }

/// What a descriptor is watched for, and what it turned out to be.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// EPOLLIN (epoll_ctl(2)).
    package static let readable = Readiness(rawValue: CL_READABLE)
    /// EPOLLOUT.
    package static let writable = Readiness(rawValue: CL_WRITABLE)
    /// EPOLLHUP or EPOLLRDHUP.
    package static let hangUp = Readiness(rawValue: CL_HANGUP | CL_READ_HANGUP)
    /// EPOLLERR.
    package static let failed = Readiness(rawValue: CL_ERROR)
}

/// A single-threaded loop over epoll(7). Nothing wakes it while nothing happens: one timerfd is armed for the earliest
/// timer only, and disarmed without one.
///
/// Concurrency: everything happens on the thread that calls `run()`. Handlers may add and cancel watches and timers,
/// their own included; a handler cancelled while its event waits in the same batch is not called.
package final class EventLoop {
    /// Names a source, to cancel it.
    package typealias Token = UInt64
    private struct Watch {
        let descriptor: Int32
        let handler: (Readiness) -> Void
    }
    private struct Timer {
        let at: Moment
        let handler: () -> Void
    }

    private let epoll: Descriptor
    private let timer: Descriptor
    private var watches: [Token: Watch] = [:]
    private var timers: [Token: Timer] = [:]
    private var nextToken: Token = 1
    private var armed: Moment?
    private var stopped = false
    private var signals: Int32?

    /// An empty loop.
    /// - Throws: `SystemCallError` when the kernel gives no descriptor.
    package init() throws(SystemCallError) {
        epoll = Descriptor(owning: try check(cl_epoll_create(), "creating an epoll instance"))
        timer = Descriptor(owning: try check(cl_timer_create(), "creating a timer"))
        try check(cl_epoll_control(epoll.number, CL_EPOLL_ADD, timer.number, CL_READABLE, 0), "watching a timer")
    }

    deinit { if let signals { Descriptor(owning: signals).close() } }

    /// Calls the handler whenever the descriptor is ready. The descriptor stays the caller's and must outlive the watch.
    @discardableResult
    package func watch(
        _ descriptor: Int32, _ interest: Readiness = .readable, handler: @escaping (Readiness) -> Void
    ) throws(SystemCallError) -> Token {
        let token = nextToken
        try check(
            cl_epoll_control(epoll.number, CL_EPOLL_ADD, descriptor, interest.rawValue, token), "watching",
            "descriptor \(descriptor)")
        nextToken += 1
        watches[token] = Watch(descriptor: descriptor, handler: handler)
        return token
    }

    /// Changes what a watched descriptor is watched for.
    package func rewatch(_ token: Token, _ interest: Readiness) throws(SystemCallError) {
        guard let watch = watches[token] else { return }
        try check(
            cl_epoll_control(epoll.number, CL_EPOLL_MODIFY, watch.descriptor, interest.rawValue, token), "watching",
            "descriptor \(watch.descriptor)")
    }

    /// Ends a watch or a timer; unknown tokens are ignored. Call it before the descriptor is closed.
    package func cancel(_ token: Token) {
        if let watch = watches.removeValue(forKey: token) {
            _ = cl_epoll_control(epoll.number, CL_EPOLL_DELETE, watch.descriptor, 0, 0)
        } else if timers.removeValue(forKey: token) != nil {
            arm()
        }
    }

    /// Calls the handler once, so many milliseconds from now.
    @discardableResult
    package func after(milliseconds: Int, _ handler: @escaping () -> Void) -> Token {
        let token = nextToken
        nextToken += 1
        timers[token] = Timer(at: Moment.now.adding(milliseconds: milliseconds), handler: handler)
        arm()
        return token
    }

    /// Takes these signals through the loop instead of their default action. Once per process, before any thread exists.
    package func onSignals(_ numbers: [Int32], handler: @escaping (_ signal: Int32) -> Void) throws(SystemCallError) {
        let descriptor = try check(cl_signal_descriptor(numbers, Int32(numbers.count)), "taking signals")
        signals = descriptor
        try watch(descriptor) { _ in
            var sender: Int32 = 0
            while case let number = cl_signal_next(descriptor, &sender), number > 0 { handler(number) }
        }
    }

    /// Runs until `stop()`.
    package func run() throws(SystemCallError) {
        stopped = false
        while !stopped { try turn(timeout: -1) }
    }

    /// Ends `run()` after the handler that calls it.
    package func stop() { stopped = true }

    /// Waits for one batch of events, at most so many milliseconds (-1: for ever), and handles it.
    package func turn(timeout: Int32) throws(SystemCallError) {
        var tokens = [UInt64](repeating: 0, count: 64)
        var events = [UInt32](repeating: 0, count: 64)
        let count = try check(cl_epoll_wait(epoll.number, &tokens, &events, 64, timeout), "waiting for events")
        for position in 0..<Int(count) {
            if tokens[position] == 0 {
                fireTimers()
            } else {
                watches[tokens[position]]?.handler(Readiness(rawValue: events[position]))
            }
        }
    }

    private func arm() {
        let next = timers.values.map(\.at).min()
        guard next != armed else { return }
        armed = next
        _ = cl_timer_set(timer.number, next.map { max(1, $0.nanoseconds) } ?? 0)
    }

    private func fireTimers() {
        _ = try? readSome(timer.number, limit: 8)
        armed = nil
        let now = Moment.now
        let due = timers.filter { $0.value.at <= now }.sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
        for (token, timer) in due where timers.removeValue(forKey: token) != nil { timer.handler() }
        arm()
    }
}

extension Descriptor {
    /// Closes now instead of at the end of the owner's life.
    package consuming func close() {}
}
