// The state of the tunnel as the worker tells it.

package import JSON

/// The states of a tunnel (`contracts/command-protocol.md`).
package enum TunnelState: String, Hashable, Sendable, CaseIterable {
    case disconnected, connecting, connected, reconnecting, blocked, disconnecting
}

/// How far connecting has come.
package enum ConnectStage: String, Hashable, Sendable, CaseIterable {
    /// The engine starts and makes its sandbox; the host is untouched.
    case engine
    /// Guard, link into the sandbox, routes and rules are put in place.
    case link
    /// The inside of the sandbox is set up, and the engine gets ready.
    case sandbox
    /// Everything is read back.
    case verify
    /// Waiting before the engine is started again.
    case waiting
}

/// Which way the traffic takes into the engine.
package enum DataPath: String, Hashable, Sendable {
    /// TCP by REDIRECT, UDP by TPROXY, the rest by TUN.
    case redirect
    /// Everything by TUN: nft is missing.
    case tun
}

/// The engine's process.
package struct EngineReport: Hashable, Sendable {
    /// The process id on the host.
    package var pid: Int
    /// Times it was started again since the connect.
    package var restarts: Int

    package init(pid: Int, restarts: Int) {
        self.pid = pid
        self.restarts = restarts
    }
}

/// Traffic which the kernel does not send into the tunnel, because of a rule of another program.
package struct DiversionReport: Hashable, Sendable {
    /// 4 or 6.
    package var family: Int
    /// Whether it is questions to resolvers only.
    package var onlyNames: Bool
    /// The link it would leave by; nil when by none.
    package var link: String?
    /// The rule, as `ip rule` shows it; nil when it was not found out.
    package var rule: String?

    package init(family: Int, onlyNames: Bool, link: String?, rule: String?) {
        self.family = family
        self.onlyNames = onlyNames
        self.link = link
        self.rule = rule
    }

    var json: JSON {
        [
            "family": .int(family), "onlyNames": .bool(onlyNames), "link": .optional(link), "rule": .optional(rule),
        ]
    }

    init?(json: JSON) {
        guard let family = json["family"].int, [4, 6].contains(family) else { return nil }
        self.init(
            family: family, onlyNames: json["onlyNames"].bool ?? false, link: json["link"].string,
            rule: json["rule"].string)
    }
}

/// The engine's control API. Only the tunnel's owner and root get it.
package struct APIReport: Hashable, Sendable {
    /// `127.0.0.1:PORT`.
    package var address: String
    /// The bearer token. Never logged.
    package var secret: String

    package init(address: String, secret: String) {
        self.address = address
        self.secret = secret
    }
}

/// Both sides of the tunnel as lines of text, in the words of `ip` and `nft`.
package struct NetworkListing: Hashable, Sendable {
    /// Links, rules, routes and the guard on the host.
    package var host: [String]
    /// The same inside the engine's sandbox.
    package var sandbox: [String]

    package init(host: [String], sandbox: [String]) {
        self.host = host
        self.sandbox = sandbox
    }
}

/// The answer to `status` and to `connect`, and what `subscribe` sends.
package struct StatusReport: Hashable, Sendable {
    /// The state of the tunnel.
    package var state: TunnelState
    /// How far; nil when there is nothing under way.
    package var stage: ConnectStage?
    /// Why the tunnel is not (or no longer) up; nil when nothing is wrong.
    package var reason: Failure?
    /// The uid of the user the tunnel belongs to.
    package var owner: UInt32?
    /// Whether that is the one who asks.
    package var mine = false
    /// Since when the state holds, in seconds since 1970.
    package var since: Int?
    /// Whether a crash lets nothing out; without a tunnel, as the asking user left it.
    package var killSwitch = false
    /// When the connection is undone unless confirmed, in seconds since 1970.
    package var confirmBy: Int?
    /// The engine's process; nil when none runs.
    package var engine: EngineReport?
    /// The engine's control API; nil for those it is not for.
    package var api: APIReport?
    /// Whether link, routes, rules and guard were read back as wanted at the last look, and the kernel said that it sends
    /// ordinary traffic into the link.
    package var verified = false
    /// What it sends elsewhere, which the guard stops.
    package var diversions: [DiversionReport] = []
    /// Rises whenever the network under the tunnel changed, or something of the tunnel's was put right: what was proven before
    /// is not proven any longer.
    package var networkChanges = 0
    /// Which way traffic takes.
    package var dataPath: DataPath = .redirect
    /// Whether domestic destinations go past the engine now.
    package var domesticFastPath = false
    /// How names are kept inside the tunnel; an object whose members the worker defines: `{"method", "secured", "detail"}`.
    package var dns: JSON = [:]
    /// What is not covered by the tunnel, as codes.
    package var notCovered: [String] = []
    /// Other clients seen on the host, as one line each.
    package var otherClients: [String] = []
    /// Both sides as text, when asked for.
    package var network: NetworkListing?

    package init(state: TunnelState) { self.state = state }
}

extension StatusReport {
    /// True when the host's resolver runs and does not let itself be led through the tunnel.
    package var isResolverRefusing: Bool { dns["method"].string == "refused" }

    /// The object on the wire.
    package var json: JSON {
        var object: JSON = [
            "state": .string(state.rawValue), "stage": .optional(stage?.rawValue), "reason": reason?.json ?? .null,
            "owner": .optional(owner), "mine": .bool(mine), "since": .optional(since),
            "killSwitch": .bool(killSwitch), "confirmBy": .optional(confirmBy),
            "engine": engine.map { ["pid": .int($0.pid), "restarts": .int($0.restarts)] } ?? .null,
            "api": api.map { ["address": .string($0.address), "secret": .string($0.secret)] } ?? .null,
            "verified": .bool(verified), "diversions": .array(diversions.map(\.json)),
            "networkChanges": .int(networkChanges), "dataPath": .string(dataPath.rawValue),
            "domesticFastPath": .bool(domesticFastPath), "dns": dns,
            "notCovered": .strings(notCovered), "otherClients": .strings(otherClients),
        ]
        if let network {
            object["network"] = ["host": .strings(network.host), "sandbox": .strings(network.sandbox)]
        }
        return object
    }

    /// Reads the object; nil when the state is missing or unknown. Other members fall back to "nothing".
    package init?(json: JSON) {
        guard let state = json["state"].string.flatMap(TunnelState.init(rawValue:)) else { return nil }
        self.init(state: state)
        stage = json["stage"].string.flatMap(ConnectStage.init(rawValue:))
        reason = Failure(json: json["reason"])
        owner = json["owner"].int.flatMap(UInt32.init(exactly:))
        mine = json["mine"].bool ?? false
        since = json["since"].int
        killSwitch = json["killSwitch"].bool ?? false
        confirmBy = json["confirmBy"].int
        if let pid = json["engine"]["pid"].int {
            engine = EngineReport(pid: pid, restarts: json["engine"]["restarts"].int ?? 0)
        }
        if let address = json["api"]["address"].string, let secret = json["api"]["secret"].string {
            api = APIReport(address: address, secret: secret)
        }
        verified = json["verified"].bool ?? false
        diversions = json["diversions"].listed.compactMap(DiversionReport.init(json:))
        networkChanges = json["networkChanges"].int ?? 0
        dataPath = json["dataPath"].string.flatMap(DataPath.init(rawValue:)) ?? .redirect
        domesticFastPath = json["domesticFastPath"].bool ?? false
        dns = json["dns"]
        notCovered = json["notCovered"].listed.compactMap(\.string)
        otherClients = json["otherClients"].listed.compactMap(\.string)
        if json["network"].object != nil {
            network = NetworkListing(
                host: json["network"]["host"].listed.compactMap(\.string),
                sandbox: json["network"]["sandbox"].listed.compactMap(\.string))
        }
    }
}
