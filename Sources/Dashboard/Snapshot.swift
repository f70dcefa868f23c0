// What the dashboard is told: the state of the connection, the subscription, the lines and what is going on.

package import Messages

/// What passes through the tunnel.
package enum Mode: String, Sendable, CaseIterable {
    case rule, global
}

/// Something that went wrong, and the way out of it.
package struct Problem: Hashable, Sendable {
    /// The stable name.
    package var code: String
    /// What went wrong, in one sentence.
    package var message: Text
    /// What to do about it.
    package var remedy: Text?

    package init(code: String, message: Text, remedy: Text? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}

/// What the one request through the line said after connecting.
package enum Proof: Hashable, Sendable {
    case none, checking
    case answered(milliseconds: Int)
    case silent
}

/// The state of the tunnel as the worker reports it.
package struct Connection: Hashable, Sendable {
    /// The worker's states, and not knowing.
    package enum Phase: String, Sendable, CaseIterable {
        /// The worker has not answered yet.
        case unknown
        /// There is no worker to ask.
        case unavailable
        case disconnected, connecting, connected, reconnecting, blocked, disconnecting
    }

    /// The state of the tunnel.
    package var phase: Phase = .unknown
    /// What is being done while connecting; a code of the worker.
    package var stage: String?
    /// Why it is not, or no longer, up.
    package var problem: Problem?
    /// Seconds since 1970.
    package var since: Double?
    /// When an unconfirmed connection is undone; seconds since 1970.
    package var confirmBy: Double?
    /// False when the tunnel belongs to another user.
    package var isMine = true
    /// What the last proof found.
    package var proof: Proof = .none

    package init(_ phase: Phase = .unknown) { self.phase = phase }

    /// True while there is something to disconnect.
    package var isOn: Bool {
        switch phase {
        case .connecting, .connected, .reconnecting, .blocked: true
        case .unknown, .unavailable, .disconnected, .disconnecting: false
        }
    }
}

/// Figures of the traffic, and their last minutes.
package struct Traffic: Hashable, Sendable {
    /// Bytes a second.
    package private(set) var up = 0
    /// Bytes a second, down.
    package private(set) var down = 0
    /// Bytes since the engine started.
    package private(set) var upTotal = 0
    /// Bytes since the engine started, down.
    package private(set) var downTotal = 0
    /// Bytes a second, one entry a second, the newest last.
    package private(set) var upHistory: [Int] = []
    /// Bytes a second down, the newest last.
    package private(set) var downHistory: [Int] = []
    private static let kept = 120

    package init() {}

    /// Takes in one second.
    package mutating func add(up: Int, down: Int, upTotal: Int, downTotal: Int) {
        self.up = up
        self.down = down
        self.upTotal = upTotal
        self.downTotal = downTotal
        upHistory.append(up)
        downHistory.append(down)
        if upHistory.count > Self.kept {
            upHistory.removeFirst(upHistory.count - Self.kept)
            downHistory.removeFirst(downHistory.count - Self.kept)
        }
    }
}

/// What the provider says is used and left. Bytes; seconds since 1970.
package struct Quota: Hashable, Sendable {
    /// Bytes.
    package var used: Int
    /// Bytes; nil when there is no limit or none is known.
    package var total: Int?
    /// Seconds since 1970.
    package var expires: Double?

    package init(used: Int, total: Int?, expires: Double?) {
        self.used = used
        self.total = total
        self.expires = expires
    }
}

/// Long work going on beside the connection.
package enum Activity: Hashable, Sendable {
    case testing(done: Int, total: Int)
    case importing
    case updating
}

/// A line of text shown for a while above the keys.
package struct Announcement: Hashable, Sendable {
    /// How much a message matters.
    package enum Weight: Sendable { case calm, good, warning, error }
    /// What is said.
    package var text: Text
    /// How much it matters.
    package var weight: Weight
    /// Seconds since 1970 after which it goes.
    package var until: Double

    package init(_ text: Text, _ weight: Weight, until: Double) {
        self.text = text
        self.weight = weight
        self.until = until
    }
}

/// Whose log is read.
package enum LogSource: String, Sendable, CaseIterable {
    case worker, engine, controller
}

/// One live connection through the engine.
package struct LiveConnection: Hashable, Sendable {
    /// The engine's id of the connection.
    package var id: String
    /// Where it goes.
    package var host: String
    /// The rule that took it.
    package var rule: String
    /// The line it goes through.
    package var line: String
    /// Bytes.
    package var up: Int
    /// Bytes, down.
    package var down: Int

    package init(id: String, host: String, rule: String, line: String, up: Int, down: Int) {
        self.id = id
        self.host = host
        self.rule = rule
        self.line = line
        self.up = up
        self.down = down
    }
}

/// Everything the dashboard shows that it does not decide itself.
package struct Snapshot: Sendable {
    /// How the tunnel is.
    package var connection = Connection()
    /// Why the state directory cannot be read.
    package var stateProblem: Problem?
    /// False until a subscription was imported.
    package var hasSubscription = false
    /// The lines of the subscription.
    package var lines = LineTable()
    /// The chosen line's id; `LineItem.automaticID` for the automatic choice.
    package var selected: String? { didSet { if selected != oldValue { dropProof() } } }
    /// What the automatic choice uses now: a line's id.
    package var automatic: String? {
        didSet { if selected == LineItem.automaticID, let oldValue, automatic != oldValue { dropProof() } }
    }
    /// The state directory has not been read yet.
    package var isLoading = false
    /// What goes through the line.
    package var mode = Mode.rule { didSet { if mode != oldValue { dropProof() } } }
    /// Whether a crash lets nothing out.
    package var killSwitch = false
    /// Figures of the engine; nil while there are none.
    package var traffic: Traffic?
    /// What the provider says is left.
    package var quota: Quota?
    /// What is under way.
    package var activity: Activity?
    /// What came of the last deed.
    package var announcement: Announcement?
    /// The log in view.
    package var logSource = LogSource.worker
    /// Its lines, the newest last.
    package var logLines: [String] = []
    /// What goes on in the engine.
    package var connections: [LiveConnection] = []
    /// Seconds east of UTC, for dates.
    package var utcOffset = 0

    package init() {}

    /// A proof is one of a line and a mode: of others nothing is known yet.
    private mutating func dropProof() { connection.proof = .none }
}
