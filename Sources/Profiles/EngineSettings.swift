// The engine's own settings, which stand beside a profile and never in it.

package import JSON

/// What Trocket sets of `log` and `experimental`. These scalars belong into the document on descriptor 3 (the worker's
/// tunnel configuration, or this value's own document for an engine without a tunnel): the engine reads descriptor 3 first
/// and the first scalar wins, so that nothing in a profile can move the control port or open a file.
/// Source: <https://sing-box.sagernet.org/configuration/experimental/>.
package struct EngineSettings: Hashable, Sendable {
    /// The loopback port of the control API.
    package var controlPort: Int
    /// The control API's secret; 256 random bits as text.
    package var secret: String
    /// The mode of a first start; a cache file remembers the last one.
    package var mode: RoutingMode
    /// Where selection and mode survive a restart, relative to the engine's working directory; nil keeps nothing.
    package var cacheFile: String?
    /// trace, debug, info, warn, error, fatal or panic. Connections are told apart from `info` on.
    package var logLevel: String

    package init(
        controlPort: Int, secret: String, mode: RoutingMode = .rule, cacheFile: String? = "cache.db",
        logLevel: String = "info"
    ) {
        self.controlPort = controlPort
        self.secret = secret
        self.mode = mode
        self.cacheFile = cacheFile
        self.logLevel = logLevel
    }

    /// `log` and `experimental` as a document of their own.
    package var document: JSON {
        var experimental: JSON = [
            "clash_api": [
                "external_controller": .string("127.0.0.1:\(controlPort)"), "secret": .string(secret),
                "default_mode": .string(mode.rawValue),
            ]
        ]
        if let cacheFile { experimental["cache_file"] = ["enabled": true, "path": .string(cacheFile)] }
        return ["log": ["level": .string(logLevel), "timestamp": true], "experimental": experimental]
    }
}
