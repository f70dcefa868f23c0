// What the controller remembers between runs: the one subscription, the choices made, the last latencies.

package import JSON

/// The content of subscription.json.
package struct State: Hashable, Sendable {
    /// Choices of the user.
    package var preferences = Preferences()
    /// nil before the first import.
    package var subscription: SubscriptionRecord?
    /// The last measurement of each line, by identity.
    package var latencies: [String: Latency] = [:]

    package init() {}
}

/// Choices that outlive an update.
package struct Preferences: Hashable, Sendable {
    /// The chosen line; nil is `auto`.
    package var selection: Selection?
    /// `rule` or `global`.
    package var mode: String?
    /// The kill switch as last asked for; nil when never.
    package var killSwitch: Bool?

    package init() {}
}

/// A chosen line, by identity, so that it survives a rename.
package struct Selection: Hashable, Sendable {
    /// What the line is, whatever it is called.
    package var identity: String
    /// The name it had when it was chosen, to say what is gone.
    package var name: String

    package init(identity: String, name: String) {
        self.identity = identity
        self.name = name
    }
}

/// The imported subscription.
package struct SubscriptionRecord: Hashable, Sendable {
    /// The link; a credential. nil when it came from a file or standard input.
    package var link: String?
    /// The User-Agent the user insisted on; nil for the usual two.
    package var agent: String?
    /// The provider's name of it.
    package var title: String?
    /// `sing-box`, `clash` or `links`.
    package var format: String
    /// Seconds since 1970.
    package var fetchedAt: Int
    /// Hours after which the provider wants to be asked again.
    package var intervalHours: Int?
    /// Traffic and expiry; nil when the provider does not say.
    package var quota: Quota?
    /// The lines, in the provider's order.
    package var lines: [StoredLine]
    /// The provider's bodies, kept so that another engine needs no new fetch.
    package var sources: [StoredSource]
    /// What `import --json` printed.
    package var report: JSON
    /// Whether in Rule mode every domestic address goes direct.
    package var domesticAddressesAreDirect: Bool
    /// The engine the profile was checked with, such as `1.14.2`.
    package var engine: String
    /// Ties profile.json to this record; set by the store.
    var profileCheck = ""

    package init(
        link: String?, agent: String?, title: String?, format: String, fetchedAt: Int, intervalHours: Int?,
        quota: Quota?,
        lines: [StoredLine], sources: [StoredSource], report: JSON, domesticAddressesAreDirect: Bool, engine: String
    ) {
        self.link = link
        self.agent = agent
        self.title = title
        self.format = format
        self.fetchedAt = fetchedAt
        self.intervalHours = intervalHours
        self.quota = quota
        self.lines = lines
        self.sources = sources
        self.report = report
        self.domesticAddressesAreDirect = domesticAddressesAreDirect
        self.engine = engine
    }
}

/// A line the user can pick.
package struct StoredLine: Hashable, Sendable {
    /// What the line is, whatever it is called.
    package var identity: String
    /// The engine object's tag.
    package var tag: String
    /// The provider's name of it.
    package var name: String
    /// The engine's name of the protocol.
    package var type: String
    /// Host name or address.
    package var server: String
    /// nil when it has several.
    package var port: Int?
    /// What a byte costs; nil when the name does not say.
    package var multiplier: Double?

    package init(
        identity: String, tag: String, name: String, type: String, server: String, port: Int?, multiplier: Double?
    ) {
        self.identity = identity
        self.tag = tag
        self.name = name
        self.type = type
        self.server = server
        self.port = port
        self.multiplier = multiplier
    }
}

/// Traffic and expiry as the provider tells them. Unknown parts are nil.
package struct Quota: Hashable, Sendable {
    /// Bytes.
    package var upload: Int64?
    /// Bytes.
    package var download: Int64?
    /// Bytes.
    package var total: Int64?
    /// Seconds since 1970.
    package var expire: Int64?

    package init(upload: Int64? = nil, download: Int64? = nil, total: Int64? = nil, expire: Int64? = nil) {
        self.upload = upload
        self.download = download
        self.total = total
        self.expire = expire
    }

    /// Bytes in both directions; a provider may say any two numbers.
    package var used: Int64 {
        let sum = (upload ?? 0).addingReportingOverflow(download ?? 0)
        return sum.overflow ? .max : sum.partialValue
    }
}

/// One measurement of a line.
package struct Latency: Hashable, Sendable {
    /// Milliseconds; nil when it failed.
    package var milliseconds: Int?
    /// Seconds since 1970.
    package var at: Int
    /// How it was measured, such as `throw-away engine`.
    package var via: String
    /// `timeout`, `refused`, `tls`, `dns`, `proxy` …; nil when it succeeded.
    package var error: String?

    package init(milliseconds: Int?, at: Int, via: String, error: String?) {
        self.milliseconds = milliseconds
        self.at = at
        self.via = via
        self.error = error
    }
}

/// One body the provider sent, in `source/`.
package struct StoredSource: Hashable, Sendable {
    /// The file's name.
    package var file: String
    /// The User-Agent that got it; nil for a file or standard input.
    package var agent: String?
    /// The proxy-provider it is the list of; nil for the subscription itself.
    package var provider: String?

    package init(file: String, agent: String?, provider: String?) {
        self.file = file
        self.agent = agent
        self.provider = provider
    }
}
