// What the worker answers.

package import JSON

/// The answer to one request.
package struct Reply: Hashable, Sendable {
    /// The request's number; nil when the request was so broken that it had none.
    package let id: Int?
    /// The answer's object, or why there is none.
    package let outcome: Result<JSON, Failure>

    /// A good answer.
    package init(id: Int, ok: JSON) {
        self.id = id
        outcome = .success(ok)
    }

    /// A failure.
    package init(id: Int?, _ failure: Failure) {
        self.id = id
        outcome = .failure(failure)
    }

    /// `{"id":7,"ok":{…}}` or `{"id":7,"error":{…}}`.
    package var json: JSON {
        switch outcome {
        case .success(let value): ["id": .optional(id), "ok": value]
        case .failure(let failure): ["id": .optional(id), "error": failure.json]
        }
    }
}

/// The state, sent to whoever subscribed.
package struct StateEvent: Hashable, Sendable {
    /// Grows by one with every event of a connection.
    package let token: Int
    /// States passed over since the event before, because the reader was slow.
    package let dropped: Int
    /// The newest state.
    package let status: StatusReport

    package init(token: Int, dropped: Int, status: StatusReport) {
        self.token = token
        self.dropped = dropped
        self.status = status
    }

    /// `{"event":"state","token":1,"dropped":0,"status":{…}}`.
    package var json: JSON {
        ["event": "state", "token": .int(token), "dropped": .int(dropped), "status": status.json]
    }
}

/// What comes from the worker.
package enum ServerMessage: Hashable, Sendable {
    case reply(Reply)
    case state(StateEvent)

    /// Reads one line of the worker's; nil when it is neither a reply nor an event known here.
    package init?(json: JSON) {
        if json["event"].string == "state", let status = StatusReport(json: json["status"]) {
            self = .state(
                StateEvent(token: json["token"].int ?? 0, dropped: json["dropped"].int ?? 0, status: status))
        } else if let failure = Failure(json: json["error"]) {
            self = .reply(Reply(id: json["id"].int, failure))
        } else if let id = json["id"].int, json["ok"].object != nil {
            self = .reply(Reply(id: id, ok: json["ok"]))
        } else {
            return nil
        }
    }
}

/// The answer to `hello`.
package struct HelloReport: Hashable, Sendable {
    /// The worker's release.
    package var version: String
    /// The root of the state directories.
    package var stateRoot: String
    /// The caller's own directory below it.
    package var userDirectory: String
    /// The engine's path.
    package var engine: String
    /// The directory of the rule-sets that come with the product.
    package var ruleSets: String

    package init(version: String, stateRoot: String, userDirectory: String, engine: String, ruleSets: String) {
        self.version = version
        self.stateRoot = stateRoot
        self.userDirectory = userDirectory
        self.engine = engine
        self.ruleSets = ruleSets
    }

    /// `{"version", "protocol", "engineVersionHint", "stateRoot", "userDirectory", "engine", "ruleSets"}`.
    package var json: JSON {
        [
            "version": .string(version), "protocol": .int(CommandProtocol.version), "engineVersionHint": .null,
            "stateRoot": .string(stateRoot), "userDirectory": .string(userDirectory), "engine": .string(engine),
            "ruleSets": .string(ruleSets),
        ]
    }

    /// Reads the answer; nil when members are missing or the protocol is another.
    package init?(json: JSON) {
        guard json["protocol"].int == CommandProtocol.version, let version = json["version"].string,
            let stateRoot = json["stateRoot"].string, let userDirectory = json["userDirectory"].string,
            let engine = json["engine"].string, let ruleSets = json["ruleSets"].string
        else { return nil }
        self.init(
            version: version, stateRoot: stateRoot, userDirectory: userDirectory, engine: engine, ruleSets: ruleSets)
    }
}

/// The answer to `disconnect`.
package struct DisconnectReport: Hashable, Sendable {
    /// What was taken away, one line an object, in the words of `ip` and `nft`.
    package var repaired: [String]

    package init(repaired: [String]) { self.repaired = repaired }

    /// `{"repaired": […]}`.
    package var json: JSON { ["repaired": .strings(repaired)] }

    package init(json: JSON) { repaired = json["repaired"].listed.compactMap(\.string) }
}
