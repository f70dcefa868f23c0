// What a tunnel is at one moment: its phase, whose it is, and how far it has come. Pure values.

package import Commands

/// What a user asked for.
package struct Intent: Hashable, Sendable {
    /// The user the tunnel belongs to.
    package var owner: UInt32
    /// Whether nothing may leave the host but through the tunnel until `disconnect`.
    package var killSwitch: Bool
    /// Undo the connection unless confirmed within so many seconds.
    package var confirmSeconds: Int?
    /// Whether the profile lets domestic traffic go past the engine in Rule mode.
    package var domesticAllowed: Bool
    /// Whether it is to go past the engine; never when it is not allowed.
    package private(set) var domestic = false

    package init(owner: UInt32, killSwitch: Bool, confirmSeconds: Int? = nil, domesticAllowed: Bool = false) {
        self.owner = owner
        self.killSwitch = killSwitch
        self.confirmSeconds = confirmSeconds
        self.domesticAllowed = domesticAllowed
    }

    /// Domestic traffic is to go past the engine, if that is allowed, or into it.
    mutating func wantDomestic(_ isOn: Bool) { domestic = isOn && domesticAllowed }
}

/// Where the tunnel stands.
package enum Phase: Hashable, Sendable {
    /// The host is as it was. The reason says why the last tunnel ended, when it was not the user's wish.
    case disconnected(Failure?)
    case connecting(ConnectStage)
    case connected
    /// It was up and is to be up again; meanwhile traffic is refused.
    case reconnecting(ConnectStage, Failure)
    /// It is wanted and cannot be had; traffic is refused until the user connects or disconnects.
    case blocked(Failure)
    /// Being taken down; then `disconnected` with the reason.
    case disconnecting(Failure?)

    /// The state as told to a peer.
    package var state: TunnelState {
        switch self {
        case .disconnected: .disconnected
        case .connecting: .connecting
        case .connected: .connected
        case .reconnecting: .reconnecting
        case .blocked: .blocked
        case .disconnecting: .disconnecting
        }
    }

    /// How far connecting has come.
    package var stage: ConnectStage? {
        switch self {
        case .connecting(let stage), .reconnecting(let stage, _): stage
        default: nil
        }
    }

    /// Why it is not up.
    package var reason: Failure? {
        switch self {
        case .disconnected(let reason), .disconnecting(let reason): reason
        case .reconnecting(_, let reason), .blocked(let reason): reason
        case .connecting, .connected: nil
        }
    }
}

/// What may pass on the host in a phase.
package enum Policy: Hashable, Sendable {
    /// The host is as it was; everything passes.
    case open
    /// Nothing passes but local networks, inbound sessions and the engine: what a tunnel that is gone has left.
    case guarded
    /// The whole plan with the guard: what is not local goes into the tunnel; where nobody answers in it, it is refused.
    case full
}

/// One tunnel.
package struct Session: Hashable, Sendable {
    /// Steps of one start of the engine that are done, in whatever order they came.
    package struct Progress: OptionSet, Hashable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// The sandbox's namespace is in our hands.
        package static let namespace = Progress(rawValue: 1)
        /// The link into it is made.
        package static let link = Progress(rawValue: 2)
        /// The engine accepts connections on its API, and so has opened everything.
        package static let engine = Progress(rawValue: 4)
        /// The inside is set up.
        package static let wiring = Progress(rawValue: 8)
        /// An engine was started: all that can be known before was in order.
        package static let process = Progress(rawValue: 16)
    }

    /// The state and what belongs to it.
    package internal(set) var phase: Phase
    /// What was asked for; nil while nothing is.
    package internal(set) var intent: Intent?
    /// What may pass now.
    package internal(set) var policy: Policy
    /// What of the tunnel is up already.
    package internal(set) var progress: Progress = []
    /// Failures in a row; the back-off grows with them.
    package internal(set) var failures = 0
    /// Times the engine was started again since the connect.
    package internal(set) var restarts = 0
    /// Whether the connection waits for `confirm`.
    package var awaitsConfirmation: Bool { confirming != nil }
    /// The time for a confirmation that runs, in seconds.
    var confirming: Int?
    /// Whether an engine was asked for and is not known to be gone.
    package internal(set) var engineRuns = false
    /// Whether the host still holds something of the tunnel that is being taken down.
    package internal(set) var undoing = false
    /// Whether a block was in place before the connection that is being made, so that failing must not open the host.
    package internal(set) var wasBlocked = false
    /// Whether domestic traffic went past the engine of the worker that died, and nobody has said since where it is to go.
    package internal(set) var restoresDomestic = false
    /// Whether a connection on its way up that fails leaves the host closed: with a block before it, and with a kill switch
    /// in force since. What hinders the very start of an engine leaves the host as it was.
    var staysClosed: Bool {
        wasBlocked || (intent?.killSwitch == true && policy != .open && progress.contains(.process))
    }
    /// Whether the worker ends once the tunnel is down.
    package internal(set) var stopping = false

    /// No tunnel.
    package init() {
        phase = .disconnected(nil)
        policy = .open
    }

    /// What a worker that died with the kill switch on left behind: nothing leaves the host until someone decides.
    /// - restoringDomestic: domestic traffic went past its engine.
    package init(blockedFor intent: Intent, reason: Failure, restoringDomestic: Bool = false) {
        phase = .blocked(reason)
        self.intent = intent
        policy = .guarded
        wasBlocked = true
        restoresDomestic = restoringDomestic
    }

    /// Failures in a row after which it is given up.
    package static let failureLimit = 6
    /// From the moment the tunnel is up to domestic traffic going past the engine, in milliseconds.
    package static let domesticDelay = 500
    /// Up for so long, in milliseconds, an engine counts as healthy and earlier failures are forgotten.
    package static let healthyAfter = 30_000

    /// The wait before the engine is started again, in milliseconds: the first time none, then longer and longer.
    package static func backOff(afterFailures failures: Int) -> Int {
        let steps = [0, 250, 1_000, 3_000, 10_000]
        return steps[min(max(0, failures - 1), steps.count - 1)]
    }
}
