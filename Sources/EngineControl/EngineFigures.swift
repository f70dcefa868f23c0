// What the engine's control API tells, as values.

import JSON
import Transfer

/// A group of lines: what it holds and which it uses.
package struct EngineGroup: Hashable, Sendable {
    /// The member in use; nil before a urltest group has measured.
    package var now: String?
    /// The tags it chooses among.
    package var members: [String]

    init(_ value: JSON) {
        now = value["now"].string.flatMap { $0.isEmpty ? nil : $0 }
        members = value["all"].listed.compactMap(\.string)
    }
}

/// A number of bytes as the engine tells it, within what sums can bear: an engine gone wrong may tell any number, and a
/// rate is summed up for months.
private func count(_ value: JSON, most: Int = 1 << 60) -> Int { min(max(0, value.int ?? 0), most) }

/// Bytes a second through the engine.
package struct TrafficRate: Hashable, Sendable {
    /// Bytes a second, up.
    package var up: Int
    /// Bytes a second, down.
    package var down: Int

    package init(up: Int, down: Int) {
        self.up = up
        self.down = down
    }

    init(_ value: JSON) { self.init(up: count(value["up"], most: 1 << 40), down: count(value["down"], most: 1 << 40)) }
}

/// One live connection.
package struct EngineConnection: Hashable, Sendable {
    /// The engine's id of it.
    package var id: String
    /// `tcp` or `udp`.
    package var network: String
    /// The inbound, such as `redirect/redirect`.
    package var inbound: String
    /// `address:port` of the application.
    package var source: String
    /// The name asked for, or the address; with the port.
    package var destination: String
    /// The rule that took it, such as `rule_set=geosite-cn => route(direct)`, or `final`.
    package var rule: String
    /// The outbounds from the line outward: the first is the line that carries it.
    package var chain: [String]
    /// Bytes.
    package var upload: Int
    /// Bytes.
    package var download: Int
    /// RFC 3339, as the engine writes it.
    package var start: String

    init(_ value: JSON) {
        let metadata = value["metadata"]
        func endpoint(_ host: String?, _ port: String?) -> String {
            let host = host ?? ""
            return (host.contains(":") ? "[\(host)]" : host) + ":" + (port ?? "")
        }
        let name = metadata["host"].string.flatMap { $0.isEmpty ? nil : $0 }
        id = value["id"].string ?? ""
        network = metadata["network"].string ?? ""
        inbound = metadata["type"].string ?? ""
        source = endpoint(metadata["sourceIP"].string, metadata["sourcePort"].string)
        destination = endpoint(name ?? metadata["destinationIP"].string, metadata["destinationPort"].string)
        rule = value["rule"].string ?? ""
        chain = value["chains"].listed.compactMap(\.string)
        upload = count(value["upload"])
        download = count(value["download"])
        start = value["start"].string ?? ""
    }
}

/// The live connections and the totals since the engine's start.
package struct ConnectionList: Hashable, Sendable {
    /// Those that are open.
    package var connections: [EngineConnection]
    /// Bytes.
    package var upload: Int
    /// Bytes.
    package var download: Int
    /// Bytes the engine's heap takes.
    package var memory: Int

    init(_ value: JSON) {
        connections = value["connections"].listed.map(EngineConnection.init)
        upload = count(value["uploadTotal"])
        download = count(value["downloadTotal"])
        memory = count(value["memory"])
    }
}

/// Everything `status` shows of the engine.
package struct EngineSnapshot: Hashable, Sendable {
    /// The engine's version as text.
    package var version: String
    /// `Rule` or `Global`.
    package var mode: String
    /// Totals, memory and open connections.
    package var traffic: ConnectionList
    /// The selector's member in use: a line's tag or the urltest group's.
    package var selected: String?
    /// What the urltest group uses; nil before it has measured.
    package var automatic: String?
}

/// How a measurement ended.
package enum DelayOutcome: Hashable, Sendable {
    /// Milliseconds.
    case milliseconds(Int)
    /// Why it failed, as far as known.
    case failed(DelayError)

    init(_ answer: Result<HTTPResponse, TransferError>) {
        switch answer {
        case .success(let response) where response.status == 200:
            let delay = (try? JSON.parse(response.body))?["delay"].int
            self = delay.map { .milliseconds($0) } ?? .failed(.failed)
        // The engine tells a timeout (504) from everything else (503) and says no more.
        case .success(let response): self = .failed(response.status == 504 ? .timeout : .failed)
        case .failure(let error): self = .failed(error.code == .timeout ? .timeout : .engine)
        }
    }
}

/// Why a line did not answer. The raw value is the code other programs rely on.
package enum DelayError: String, Sendable, CaseIterable {
    /// Nothing came back in time.
    case timeout
    /// The server refuses connections.
    case refused
    /// No way to the server: no route, network unreachable.
    case unreachable
    /// TLS with the server failed: certificate, handshake.
    case tls
    /// The server's name cannot be resolved.
    case dns
    /// The server is there but does not carry the request: wrong credentials, refused or broken off by it.
    case proxy
    /// It failed and the engine does not say why.
    case failed
    /// The measuring engine itself failed.
    case engine
    /// The measurement was given up by the user.
    case cancelled
}
