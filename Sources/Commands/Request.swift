// What the controller asks the worker.

package import JSON

/// Which log to hand out.
package enum LogSource: String, Hashable, Sendable, CaseIterable {
    case worker, engine
}

/// How to connect.
package struct ConnectOptions: Hashable, Sendable {
    /// The kill switch; nil leaves it as it was last time.
    package var killSwitch: Bool?
    /// Undo the connection unless `confirm` comes within so many seconds; nil keeps it.
    package var confirmSeconds: Int?
    /// Whether domestic traffic may go past the engine: the profile sends it direct in Rule mode, whatever its other rules
    /// say. It holds until the next connect.
    package var domesticAllowed: Bool

    package init(killSwitch: Bool? = nil, confirmSeconds: Int? = nil, domesticAllowed: Bool = false) {
        self.killSwitch = killSwitch
        self.confirmSeconds = confirmSeconds
        self.domesticAllowed = domesticAllowed
    }
}

/// One call.
package enum Call: Hashable, Sendable {
    /// Who are you, where are the files.
    case hello
    /// Bring the tunnel up; answered when it is up or has failed.
    case connect(ConnectOptions)
    /// Keep a connection made with `confirmSeconds`.
    case confirm
    /// Send domestic traffic past the engine, if that is allowed, or into it again. Answered when it is so; with `soon` at
    /// once, and done half a second later. The worker does not know the mode: whoever changes it calls this right after.
    case domestic(on: Bool, soon: Bool = false)
    /// Take the tunnel down, or repair what a crash left.
    case disconnect
    /// The state, with a fresh look at the network; `network` adds the listing of both sides.
    case status(network: Bool)
    /// Send the state whenever it changes.
    case subscribe
    /// A read-only descriptor of a log.
    case logs(LogSource)

    /// The name on the wire.
    package var name: String {
        switch self {
        case .hello: "hello"
        case .connect: "connect"
        case .confirm: "confirm"
        case .domestic: "domestic"
        case .disconnect: "disconnect"
        case .status: "status"
        case .subscribe: "subscribe"
        case .logs: "logs"
        }
    }
}

/// A call with the number its answer will carry.
package struct Request: Hashable, Sendable {
    /// The number its answer will carry.
    package let id: Int
    /// What is asked for.
    package let call: Call

    package init(id: Int, _ call: Call) {
        self.id = id
        self.call = call
    }

    /// `{"v":1,"id":7,"call":"connect",…}`.
    package var json: JSON {
        var object: JSON = ["v": .int(CommandProtocol.version), "id": .int(id), "call": .string(call.name)]
        switch call {
        case .connect(let options):
            if let killSwitch = options.killSwitch { object["killSwitch"] = .bool(killSwitch) }
            if let seconds = options.confirmSeconds { object["confirmSeconds"] = .int(seconds) }
            if options.domesticAllowed { object["domesticAllowed"] = true }
        case .domestic(let isOn, let soon):
            object["on"] = .bool(isOn)
            if soon { object["soon"] = true }
        case .status(network: true): object["network"] = true
        case .logs(let source): object["source"] = .string(source.rawValue)
        default: break
        }
        return object
    }

    /// The number of a request that may be wrong otherwise, so that even an error can be answered.
    package static func id(of json: JSON) -> Int? { json["id"].int }

    /// Reads a request. Members it does not know are ignored.
    /// - Throws: `Failure` with `badRequest`, `protocolVersion` or `unknownCall`.
    package init(json: JSON) throws(Failure) {
        guard let id = json["id"].int else {
            throw Failure(.badRequest, "The request has no whole number \"id\".", remedy: "Number the requests.")
        }
        guard json["v"].int == CommandProtocol.version else {
            throw Failure(
                .protocolVersion, "The request is not of protocol version \(CommandProtocol.version).",
                remedy: "Install trocket-controller and trocket-tunnel of the same release.")
        }
        guard let name = json["call"].string else {
            throw Failure(.badRequest, "The request names no \"call\".", remedy: nil)
        }
        self.init(id: id, try Self.call(name, json))
    }

    private static func call(_ name: String, _ json: JSON) throws(Failure) -> Call {
        switch name {
        case "hello": return .hello
        case "connect":
            return .connect(
                ConnectOptions(
                    killSwitch: try optional("killSwitch", json, \.bool, "true, false or null"),
                    confirmSeconds: try confirmSeconds(json),
                    domesticAllowed: try optional("domesticAllowed", json, \.bool, "true or false") ?? false))
        case "domestic":
            guard let isOn = json["on"].bool else { throw Failure(.badRequest, "\"on\" must be true or false.") }
            return .domestic(on: isOn, soon: try optional("soon", json, \.bool, "true or false") ?? false)
        case "confirm": return .confirm
        case "disconnect": return .disconnect
        case "status": return .status(network: try optional("network", json, \.bool, "true or false") ?? false)
        case "subscribe": return .subscribe
        case "logs":
            guard let source = json["source"].string.flatMap(LogSource.init(rawValue:)) else {
                throw Failure(.badRequest, "\"source\" must be \"worker\" or \"engine\".")
            }
            return .logs(source)
        default:
            throw Failure(
                .unknownCall, "The worker does not know this call.",
                remedy: "Install trocket-controller and trocket-tunnel of the same release.")
        }
    }

    private static func confirmSeconds(_ json: JSON) throws(Failure) -> Int? {
        guard let seconds = try optional("confirmSeconds", json, \.int, "a whole number") else { return nil }
        guard (1...86_400).contains(seconds) else {
            throw Failure(.badRequest, "\"confirmSeconds\" must be between 1 and 86400.")
        }
        return seconds
    }

    private static func optional<Value>(
        _ key: String, _ json: JSON, _ path: KeyPath<JSON, Value?>, _ kind: String
    ) throws(Failure) -> Value? {
        let member = json[key]
        if member.isNull { return nil }
        guard let value = member[keyPath: path] else { throw Failure(.badRequest, "\"\(key)\" must be \(kind).") }
        return value
    }
}
