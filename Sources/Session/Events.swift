// What happens to a tunnel, and what is to be done about it.

package import Commands

/// Something that happened.
package enum SessionEvent: Hashable, Sendable {
    // MARK: Asked for

    /// A user connects; who may was checked before.
    case connect(Intent)
    /// The owner keeps a connection made with `confirmSeconds`.
    case confirm
    /// The owner sends domestic traffic past the engine, or into it; past it a moment later, if so asked.
    case domestic(Bool, soon: Bool)
    /// The tunnel has been up for a moment.
    case domesticDue
    /// The engine of a tunnel that was taken up has told its mode.
    /// - allows: it is in Rule mode, and has the profile which let domestic traffic go past the one before.
    case modeTold(allows: Bool)
    /// A user takes the tunnel down.
    case disconnect
    /// The worker is to end.
    case stop
    /// A worker that came after one that died takes up its tunnel.
    /// - attempt: how often that happened lately, this time included.
    case resume(attempt: Int)

    // MARK: From the engine host

    /// The engine runs already with this very profile: nothing is to be done.
    case engineUnchanged
    /// An engine was started.
    case engineStarted
    /// The descriptor of the sandbox's namespace has come.
    case namespaceReady
    /// The engine's API accepts connections.
    case engineReady
    /// The inside of the sandbox is set up.
    case sandboxWired
    /// No engine runs any more, because it was asked to end.
    case engineStopped
    /// The engine or its start failed; no engine runs any more.
    /// - upMilliseconds: how long the tunnel had been connected.
    case engineFailed(Failure, upMilliseconds: Int)
    /// The engine host is gone, and the engine with it.
    case engineHostGone(Failure)

    // MARK: From the host's network

    /// With the kill switch, before there is a link: the guard is in place.
    case guardReady
    /// Link, guard, routes and rules are in place.
    case linkReady
    /// The whole plan was read back.
    case planApplied
    /// Something on the way failed though the engine runs.
    case stepFailed(Failure)
    /// The host is as it was (but for a guard that was to stay).
    case undone

    // MARK: Timers

    case restartDue
    case confirmDue
}

/// Something to do. The worker does them in order.
package enum SessionEffect: Hashable, Sendable {
    /// Start the engine, or find that it runs with the same profile.
    case startEngine
    /// End the engine, if one runs.
    case stopEngine
    /// Put up the guard of a kill switch, or make the one that is there outlive the worker, as is wanted now.
    case makeGuard
    /// Put up the guard, make the link into the new namespace, then routes and rules, in place of what was there.
    case makeLink
    /// Have the engine host set up the inside: at once what needs no links, the rest when they are there.
    case wireSandbox
    /// Bring the plan in line with what is wanted now, and read it back.
    case applyPlan
    /// Send domestic traffic past the engine or into it, as is wanted.
    case applyDomestic
    /// Ask the engine for its mode; tell `modeTold`.
    case askMode
    /// No longer write down that domestic traffic goes past the engine.
    case forgetDomestic
    /// Tell `domesticDue` after so long.
    case scheduleDomestic(milliseconds: Int)
    /// Bring the host back to what it was; the guard stays where asked.
    case undo(keepingGuard: Bool)
    /// Write down what is wanted, for a worker that comes after this one.
    case remember(Intent)
    /// Nothing is wanted any more.
    case forget
    /// Call back with `restartDue`.
    case scheduleRestart(milliseconds: Int)
    /// Call back with `confirmDue`.
    case scheduleConfirm(seconds: Int)
    case cancelRestart
    case cancelConfirm
    /// Answer those who wait for the connection.
    case answerConnect(Failure?)
    /// Answer those who wait for the tunnel to be down.
    case answerDisconnect
    /// End the worker.
    case exit
}
