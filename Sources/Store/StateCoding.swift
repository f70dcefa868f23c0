// The JSON form of subscription.json. Unknown members are ignored, missing ones are what an older version knew.

package import JSON
import Notation

/// What is wrong with a state file, without any of its content.
struct StateDefect: Error {
    let problem: String
}

extension State {
    static let version = 1

    /// The document written to subscription.json.
    var json: JSON {
        var latencies = JSONObject()
        for (identity, latency) in self.latencies.sorted(by: { $0.key < $1.key }) { latencies[identity] = latency.json }
        return [
            "version": .int(Self.version), "preferences": preferences.json, "subscription": subscription?.json ?? .null,
            "latencies": .object(latencies),
        ]
    }

    /// Reads the document.
    /// - Throws: `StateDefect`.
    init(json: JSON) throws(StateDefect) {
        self.init()
        guard json.object != nil, let version = json["version"].int else {
            throw StateDefect(problem: "it is not what Trocket writes")
        }
        guard version <= Self.version else {
            throw StateDefect(problem: "a newer Trocket wrote it (version \(version))")
        }
        preferences = Preferences(json: json["preferences"])
        if !json["subscription"].isNull { subscription = try SubscriptionRecord(json: json["subscription"]) }
        for member in json["latencies"].object?.members ?? [] { latencies[member.key] = Latency(json: member.value) }
    }
}

extension Preferences {
    var json: JSON {
        var json: JSON = [:]
        if let selection {
            json["selection"] = ["identity": .string(selection.identity), "name": .string(selection.name)]
        }
        if let mode { json["mode"] = .string(mode) }
        if let killSwitch { json["killSwitch"] = .bool(killSwitch) }
        return json
    }

    init(json: JSON) {
        self.init()
        if let identity = json["selection"]["identity"].string {
            selection = Selection(identity: identity, name: json["selection"]["name"].string ?? "")
        }
        mode = json["mode"].string
        killSwitch = json["killSwitch"].bool
    }
}

extension SubscriptionRecord {
    var json: JSON {
        [
            "link": .optional(link), "agent": .optional(agent), "title": .optional(title), "format": .string(format),
            "fetchedAt": .int(fetchedAt), "intervalHours": .optional(intervalHours), "quota": quota?.json ?? .null,
            "engine": .string(engine), "domesticAddressesAreDirect": .bool(domesticAddressesAreDirect),
            "profileCheck": .string(profileCheck), "sources": .array(sources.map(\.json)),
            "lines": .array(lines.map(\.json)), "report": report,
        ]
    }

    init(json: JSON) throws(StateDefect) {
        guard let format = json["format"].string, let fetchedAt = json["fetchedAt"].int,
            let lines = json["lines"].array, let sources = json["sources"].array
        else { throw StateDefect(problem: "the subscription in it is incomplete") }
        let read = lines.compactMap { StoredLine(json: $0) }
        guard read.count == lines.count else { throw StateDefect(problem: "a line in it is incomplete") }
        self.init(
            link: json["link"].string, agent: json["agent"].string, title: json["title"].string, format: format,
            fetchedAt: fetchedAt, intervalHours: json["intervalHours"].int, quota: Quota(json: json["quota"]),
            lines: read, sources: sources.compactMap { StoredSource(json: $0) }, report: json["report"],
            domesticAddressesAreDirect: json["domesticAddressesAreDirect"].bool ?? false,
            engine: json["engine"].string ?? "")
        profileCheck = json["profileCheck"].string ?? ""
    }
}

extension StoredLine {
    var json: JSON {
        [
            "id": .string(identity), "tag": .string(tag), "name": .string(name), "type": .string(type),
            "server": .string(server), "port": .optional(port),
            "multiplier": multiplier.map { JSON.double($0) } ?? .null,
        ]
    }

    init?(json: JSON) {
        guard let identity = json["id"].string, let tag = json["tag"].string, let name = json["name"].string else {
            return nil
        }
        self.init(
            identity: identity, tag: tag, name: name, type: json["type"].string ?? "",
            server: json["server"].string ?? "",
            port: json["port"].int, multiplier: json["multiplier"].double)
    }
}

extension Quota {
    /// `{"upload", "download", "total", "expire"}` as the reports show it: bytes and an RFC 3339 date.
    package var shown: JSON {
        [
            "upload": .optional(upload), "download": .optional(download), "total": .optional(total),
            "expire": .optional(expire.map { Date.text($0) }),
        ]
    }

    var json: JSON {
        [
            "upload": .optional(upload), "download": .optional(download), "total": .optional(total),
            "expire": .optional(expire),
        ]
    }

    init?(json: JSON) {
        guard json.object != nil else { return nil }
        func number(_ key: String) -> Int64? { json[key].int.map(Int64.init) }
        self.init(
            upload: number("upload"), download: number("download"), total: number("total"), expire: number("expire"))
    }
}

extension Latency {
    /// `{"ms", "at", "via", "error"}`, as `lines --json` shows it.
    package var json: JSON {
        ["ms": .optional(milliseconds), "at": .int(at), "via": .string(via), "error": .optional(error)]
    }

    init(json: JSON) {
        self.init(
            milliseconds: json["ms"].int, at: json["at"].int ?? 0, via: json["via"].string ?? "",
            error: json["error"].string)
    }
}

extension StoredSource {
    var json: JSON {
        ["file": .string(file), "agent": .optional(agent), "provider": .optional(provider)]
    }

    init?(json: JSON) {
        guard let file = json["file"].string, !file.isEmpty, !file.contains("/") else { return nil }
        self.init(file: file, agent: json["agent"].string, provider: json["provider"].string)
    }
}
