// What worker and engine host say to each other over their socket pair: one small JSON object a packet.

internal import Addressing
package import Commands
package import JSON
package import NetworkPlan

/// What an engine is to be started with.
package struct EngineStart: Hashable, Sendable {
    /// The number of this start; events carry it, so that late ones are told from new ones.
    package var generation: Int
    /// The user whose profile it is.
    package var owner: UInt32
    /// The networks of link and TUN.
    package var addresses: LinkAddresses
    /// Whether nft redirects inside the sandbox; else all goes by the TUN.
    package var redirects: Bool
    /// Whether the sandbox gets IPv6.
    package var hasIPv6: Bool

    package init(generation: Int, owner: UInt32, addresses: LinkAddresses, redirects: Bool, hasIPv6: Bool) {
        self.generation = generation
        self.owner = owner
        self.addresses = addresses
        self.redirects = redirects
        self.hasIPv6 = hasIPv6
    }

    /// What the inside of the sandbox is to become.
    package var sandbox: SandboxPlan { SandboxPlan(addresses: addresses, hasNft: redirects, hasIPv6: hasIPv6) }
}

/// What the worker asks of the engine host.
package enum HostCall: Hashable, Sendable {
    /// Start an engine, in place of the one that runs unless that one is the same.
    case start(EngineStart)
    /// The link is there: set up the inside.
    case wire(generation: Int)
    /// Ask the engine for its mode.
    case mode(generation: Int)
    /// End the engine, and start none that is asked for already. It is answered by `stopped` with the same number.
    case stop(generation: Int)
    /// List the inside.
    case listing
    /// Send a descriptor of the engine's log.
    case log

    /// The object on the wire.
    package var json: JSON {
        switch self {
        case .start(let start):
            let addresses = start.addresses
            return [
                "call": "start", "generation": .int(start.generation), "owner": .int(start.owner),
                "addresses": .strings(
                    [addresses.ipv4, addresses.ipv6, addresses.tunIPv4, addresses.tunIPv6].map(\.description)),
                "redirects": .bool(start.redirects), "ipv6": .bool(start.hasIPv6),
            ]
        case .wire(let generation): return ["call": "wire", "generation": .int(generation)]
        case .mode(let generation): return ["call": "mode", "generation": .int(generation)]
        case .stop(let generation): return ["call": "stop", "generation": .int(generation)]
        case .listing: return ["call": "listing"]
        case .log: return ["call": "log"]
        }
    }

    package init?(json: JSON) {
        switch json["call"].string {
        case "start":
            let prefixes = json["addresses"].listed.compactMap { $0.string.flatMap { Prefix($0) } }
            guard let generation = json["generation"].int, prefixes.count == 4,
                let owner = json["owner"].int.flatMap(UInt32.init(exactly:)),
                let redirects = json["redirects"].bool, let hasIPv6 = json["ipv6"].bool
            else { return nil }
            let addresses = LinkAddresses(
                ipv4: prefixes[0], ipv6: prefixes[1], tunIPv4: prefixes[2], tunIPv6: prefixes[3])
            self = .start(
                EngineStart(
                    generation: generation, owner: owner, addresses: addresses, redirects: redirects, hasIPv6: hasIPv6))
        case "wire":
            guard let generation = json["generation"].int else { return nil }
            self = .wire(generation: generation)
        case "mode":
            guard let generation = json["generation"].int else { return nil }
            self = .mode(generation: generation)
        case "stop":
            guard let generation = json["generation"].int else { return nil }
            self = .stop(generation: generation)
        case "listing": self = .listing
        case "log": self = .log
        default: return nil
        }
    }
}

/// What the engine host tells the worker.
package enum HostEvent: Hashable, Sendable {
    /// An engine was started.
    /// - profile: what its profile has in common with no other.
    case started(generation: Int, pid: Int32, api: APIReport, profile: String)
    /// The engine that runs has this very profile already.
    case unchanged(generation: Int)
    /// The descriptor of the sandbox's network namespace comes along.
    case namespace(generation: Int)
    /// The control API accepts connections.
    case ready(generation: Int)
    /// Whether the engine is in Rule mode; false also when it does not say.
    case mode(generation: Int, isRule: Bool)
    /// The inside is set up.
    case wired(generation: Int)
    /// The inside could not be set up.
    case wireFailed(generation: Int, Failure)
    /// The engine failed; none runs any more.
    case failed(generation: Int, Failure)
    /// The engine that ran when it was asked to end has ended; one that was asked for later may follow.
    /// - generation: that of the latest such call.
    case stopped(generation: Int)
    /// The inside, a line each.
    case listing([String])
    /// The descriptor of the log comes along, or the failure says why not.
    case log(Failure?)

    /// The object on the wire.
    package var json: JSON {
        switch self {
        case .started(let generation, let pid, let api, let profile):
            [
                "event": "started", "generation": .int(generation), "pid": .int(pid), "address": .string(api.address),
                "secret": .string(api.secret), "profile": .string(profile),
            ]
        case .unchanged(let generation): ["event": "unchanged", "generation": .int(generation)]
        case .namespace(let generation): ["event": "namespace", "generation": .int(generation)]
        case .ready(let generation): ["event": "ready", "generation": .int(generation)]
        case .mode(let generation, let isRule):
            ["event": "mode", "generation": .int(generation), "rule": .bool(isRule)]
        case .wired(let generation): ["event": "wired", "generation": .int(generation)]
        case .wireFailed(let generation, let failure):
            ["event": "wireFailed", "generation": .int(generation), "failure": failure.json]
        case .failed(let generation, let failure):
            ["event": "failed", "generation": .int(generation), "failure": failure.json]
        case .stopped(let generation): ["event": "stopped", "generation": .int(generation)]
        case .listing(let lines): ["event": "listing", "lines": .strings(lines)]
        case .log(let failure): ["event": "log", "failure": failure?.json ?? .null]
        }
    }

    package init?(json: JSON) {
        let generation = json["generation"].int ?? 0
        switch json["event"].string {
        case "started":
            guard let pid = json["pid"].int.flatMap(Int32.init(exactly:)), let address = json["address"].string,
                let secret = json["secret"].string, let profile = json["profile"].string
            else { return nil }
            let api = APIReport(address: address, secret: secret)
            self = .started(generation: generation, pid: pid, api: api, profile: profile)
        case "unchanged": self = .unchanged(generation: generation)
        case "namespace": self = .namespace(generation: generation)
        case "ready": self = .ready(generation: generation)
        case "mode": self = .mode(generation: generation, isRule: json["rule"].bool ?? false)
        case "wired": self = .wired(generation: generation)
        case "wireFailed", "failed":
            guard let failure = Failure(json: json["failure"]) else { return nil }
            self =
                json["event"].string == "failed"
                ? .failed(generation: generation, failure) : .wireFailed(generation: generation, failure)
        case "stopped": self = .stopped(generation: generation)
        case "listing": self = .listing(json["lines"].listed.compactMap(\.string))
        case "log": self = .log(Failure(json: json["failure"]))
        default: return nil
        }
    }
}
