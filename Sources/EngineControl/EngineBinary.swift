// The engine's program on this machine: where it is, what it is, and what it can say about a configuration.

package import ImportReport
package import JSON
import Linux

/// A sing-box that was found, run and understood.
package struct EngineBinary: Hashable, Sendable {
    /// Where it is.
    package let path: String
    /// What it says its version is.
    package let version: EngineVersion
    /// What it was built with.
    package let capabilities: EngineCapabilities

    /// Where an installation puts the engine.
    package static let installedPath = "/usr/lib/trocket/sing-box"

    /// The engine's path: `TROCKET_ENGINE` when set and nothing else then; else the installed one, one beside this program
    /// (`../lib/trocket/sing-box`), or the first `sing-box` of `PATH`.
    /// - Throws: `EngineFailure.missing`.
    package static func locate(
        environment variable: (String) -> String? = Surroundings.variable
    ) throws(EngineFailure) -> String {
        if let path = variable("TROCKET_ENGINE"), !path.isEmpty {
            guard Surroundings.isExecutable(path) else { throw .missing(searched: [path]) }
            return path
        }
        var candidates = [installedPath]
        if let program = Surroundings.executable, let slash = program.lastIndex(of: "/") {
            candidates.append(program[..<slash] + "/../lib/trocket/sing-box")
        }
        for directory in (variable("PATH") ?? "").split(separator: ":") where directory.hasPrefix("/") {
            candidates.append(directory + "/sing-box")
        }
        guard let path = candidates.first(where: Surroundings.isExecutable) else {
            throw .missing(searched: candidates)
        }
        return path
    }

    /// Runs `sing-box version` (30 ms) and reads what it is.
    /// - Throws: `EngineFailure.notStarted`, `notAnEngine`, `tooOld`.
    package init(at path: String) throws(EngineFailure) {
        let run = try EngineRun.run(path, ["version"], milliseconds: 10_000, limit: 65_536)
        guard run.code == 0, let found = EngineVersion.parse(String(decoding: run.output, as: UTF8.self)) else {
            throw .notAnEngine(path: path)
        }
        guard found.version.isSupported else { throw .tooOld(path: path, found.version) }
        self.path = path
        version = found.version
        capabilities = found.capabilities
    }

    /// Finds and reads the engine of this machine.
    package static func find(
        environment variable: (String) -> String? = Surroundings.variable
    ) throws(EngineFailure) -> EngineBinary {
        try EngineBinary(at: locate(environment: variable))
    }

    /// The engine's own check of a whole configuration (`sing-box check`), handed over by descriptor.
    /// - Parameter readable: directories it names files in: rule-sets.
    /// - Throws: `EngineFailure.rejected` with the engine's sentence, such as `outbounds[3]: unknown method: x`.
    package func check(_ configuration: JSON, readable: [String] = []) throws(EngineFailure) {
        try check(configuration.encoded(), readable: readable)
    }

    /// The same for a configuration already written out.
    package func check(_ configuration: [UInt8], readable: [String] = []) throws(EngineFailure) {
        let run = try EngineRun.run(
            path, ["check", "-c", "/dev/fd/3"], input: configuration, milliseconds: 60_000, limit: 1 << 20,
            readable: readable)
        guard run.code == 0 else { throw .rejected(Self.sentence(run.words)) }
    }

    /// The JSON Schema of what this engine understands (`sing-box schema`).
    package func schema() throws(EngineFailure) -> JSON {
        let run = try EngineRun.run(path, ["schema"])
        guard run.code == 0, let schema = try? JSON.parse(run.output) else { throw .notAnEngine(path: path) }
        return schema
    }

    /// Any other command that ends by itself, such as `rule-set compile`.
    /// - Parameter input: becomes /dev/fd/3 of the engine.
    /// - Returns: what it printed on standard output.
    /// - Throws: `EngineFailure.rejected` with its sentence when it fails.
    @discardableResult
    package func run(
        _ arguments: [String], input: [UInt8]? = nil, milliseconds: Int = 30_000
    ) throws(EngineFailure) -> [UInt8] {
        let run = try EngineRun.run(path, arguments, input: input, milliseconds: milliseconds)
        guard run.code == 0 else { throw .rejected(Self.sentence(run.words)) }
        return run.output
    }

    /// The rules of a binary rule-set as JSON (`sing-box rule-set decompile`), which also proves that it is one.
    package func decompile(ruleSet bytes: [UInt8]) throws(EngineFailure) -> JSON {
        let text = try run(["rule-set", "decompile", "/dev/fd/3", "-o", "/dev/stdout"], input: bytes)
        guard let rules = try? JSON.parse(text) else { throw .notAnEngine(path: path) }
        return rules
    }

    /// The last sentence the engine said, without level, clock and the name of the descriptor.
    static func sentence(_ words: String) -> String {
        let lines = words.split(separator: "\n").map(String.init)
        var line = lines.last { $0.hasPrefix("FATAL") } ?? lines.last ?? ""
        if line.hasPrefix("FATAL["), let end = line.firstIndex(of: "]") {
            line = String(line[line.index(after: end)...].drop { $0 == " " })
        }
        let place = "decode config at /dev/fd/3: "
        return line.hasPrefix(place) ? String(line.dropFirst(place.count)) : line
    }
}
