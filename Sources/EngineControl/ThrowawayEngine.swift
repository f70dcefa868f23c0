// An engine without a tunnel, started for a measurement and ended with it.

package import JSON
import EngineProcess
import Linux
import Notation
package import Transfer

/// What the throw-away engine's configuration must hold so that we can reach it and nobody else can.
package struct EngineAccess: Hashable, Sendable {
    /// The loopback port of the control API.
    package let controlPort: UInt16
    /// The loopback port of the inbound that reaches each line, see `LineInbound`.
    package let inboundPort: UInt16
    /// 256 random bits as text: the API's bearer token and the inbound's password.
    package let secret: String
}

/// A running engine of our own. It has no TUN, no privilege, Landlock, a nearly empty environment, its configuration from a
/// descriptor, and dies with this process (PR_SET_PDEATHSIG) at the latest.
package final class ThrowawayEngine {
    /// Where its API is, and the secret.
    package let access: EngineAccess
    /// Its API.
    package let api: EngineAPI
    private let child: ChildProcess
    private let log: Int32
    private let directory: TemporaryDirectory
    /// A sandbox's helper is ended in order; without one there is nothing to tidy up but lines, thousands perhaps.
    private let graceMilliseconds: Int
    private var partial: [UInt8] = []
    private var lastWords: [String] = []

    /// Milliseconds the engine may take to start with a configuration of so many bytes; 50,000 lines are some 15 MB.
    private static func patience(_ bytes: Int) -> Int { 15_000 + bytes / 500 }

    /// Starts an engine and waits until its control API answers.
    /// - Parameters:
    ///   - path: the program.
    ///   - readable: more directories it may read, such as those of rule-sets.
    ///   - makesSandbox: whether the configuration has a network namespace of its own.
    ///   - configure: makes the whole configuration for these ports and this secret; log level info or lower.
    /// - Throws: `EngineFailure.ended` with the engine's sentence, `.timeout`, `.notStarted`, `.system`.
    package init(
        at path: String, client: HTTPClient, readable: [String] = [], makesSandbox: Bool = false,
        configure: (EngineAccess) -> JSON
    ) throws(EngineFailure) {
        do throws(SystemCallError) { directory = try TemporaryDirectory() } catch { throw .system(error) }
        graceMilliseconds = makesSandbox ? 500 : 0
        var attempt = 1
        while true {
            do throws(EngineFailure) {
                let access = try Self.newAccess()
                (child, log) = try Self.spawn(
                    path, directory.path, configure(access), access, readable: readable,
                    makesSandbox: makesSandbox)
                self.access = access
                // A sandbox writes its helper's number there; without one nothing is written, so nothing need be left behind.
                if !makesSandbox { directory.remove() }
                api = EngineAPI(client: client, address: "127.0.0.1:\(access.controlPort)", secret: access.secret)
                break
            } catch {
                // Somebody else may take a port between our look and the engine's.
                guard attempt < 3, case .ended(let words) = error, words.contains("address already in use") else {
                    throw error
                }
                attempt += 1
            }
        }
    }

    deinit {
        child.end(graceMilliseconds: graceMilliseconds)
        Descriptor(owning: log).close()
    }

    /// The engine's log, to be waited on; call `drain()` when it is readable, or the engine stops at a full pipe.
    package var descriptor: Int32 { log }

    /// The log lines that have arrived, without colours.
    package func drain() -> [String] {
        var lines: [String] = []
        while case .bytes(let bytes)? = try? readSome(log) { lines += Self.lines(&partial, adding: bytes) }
        lastWords = (lastWords + lines).suffix(5)
        return lines
    }

    /// True while it runs.
    package var isRunning: Bool { child.reap() == nil }

    /// The engine's last sentence, for an error.
    package var lastSentence: String { EngineBinary.sentence(lastWords.joined(separator: "\n")) }

    private static func newAccess() throws(EngineFailure) -> EngineAccess {
        do throws(SystemCallError) {
            return EngineAccess(
                controlPort: try Loopback.freePort(), inboundPort: try Loopback.freePort(),
                secret: hexadecimal(try randomBytes(32)))
        } catch { throw .system(error) }
    }

    private static func spawn(
        _ path: String, _ directory: String, _ configuration: JSON, _ access: EngineAccess, readable: [String],
        makesSandbox: Bool
    ) throws(EngineFailure) -> (ChildProcess, Int32) {
        do {
            let pipe = try Pipe()
            let text = configuration.encoded()
            let file = try memoryFile("configuration", holding: text)
            var launch = EngineLaunch(path: path, directory: directory)
            launch.configurations = [file.number]
            launch.output = pipe.writer.number
            launch.readable = readable + EngineRun.authorities
            launch.environment = EngineRun.environment()
            launch.makesSandbox = makesSandbox
            launch.ports = [access.controlPort, access.inboundPort]
            let child = try launch.start(asOwnUser: false)
            file.close()
            let log = pipe.keepingReader()
            try log.setNonBlocking(true)
            try waitForStart(child, log.number, milliseconds: patience(text.count))
            return (child, log.release())
        } catch let failure as EngineFailure {
            throw failure
        } catch let failure as SystemCallError {
            throw .notStarted(path: path, failure)
        } catch {
            throw .timeout("run")
        }
    }

    /// Reads the log until the engine says that it has started.
    private static func waitForStart(_ child: ChildProcess, _ log: Int32, milliseconds: Int) throws {
        let deadline = Moment.now.adding(milliseconds: milliseconds)
        var partial: [UInt8] = []
        var said: [String] = []
        while true {
            let ready = wait(for: [(log, .readable)], milliseconds: deadline.milliseconds(since: Moment.now))
            guard !ready[0].isEmpty else {
                child.end(graceMilliseconds: 0)
                throw EngineFailure.timeout("run")
            }
            switch try readSome(log) {
            case .bytes(let bytes):
                let lines = lines(&partial, adding: bytes)
                said = (said + lines).suffix(20)
                if lines.contains(where: { $0.contains("sing-box started") }) { return }
            case .wouldBlock: continue
            case .end:
                child.end(graceMilliseconds: 100)
                throw EngineFailure.ended(EngineBinary.sentence(said.joined(separator: "\n")))
            }
        }
    }

    /// The whole lines in the bytes so far.
    private static func lines(_ partial: inout [UInt8], adding bytes: [UInt8]) -> [String] {
        partial += bytes
        guard let end = partial.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let whole = EngineRun.plain(String(decoding: partial[..<end], as: UTF8.self))
        partial.removeSubrange(...end)
        return whole.split(separator: "\n").map(String.init)
    }
}

/// An inbound on loopback through which each line can be used by name, for real requests through a line that failed.
/// Source: <https://sing-box.sagernet.org/configuration/inbound/mixed/>, <https://sing-box.sagernet.org/configuration/route/rule/> `auth_user`.
package enum LineInbound {
    /// Adds the inbound and one rule a line to a configuration: the user `NUMBER` of the proxy goes through that line.
    package static func add(to configuration: inout JSON, lines: [String], access: EngineAccess) {
        let users: [JSON] = lines.indices.map { number in
            ["username": .string(String(number)), "password": .string(access.secret)]
        }
        configuration["inbounds"] = [
            [
                "type": "mixed", "tag": "lines", "listen": "127.0.0.1", "listen_port": .int(access.inboundPort),
                "users": .array(users),
            ]
        ]
        configuration["route"]["rules"] = .array(
            lines.enumerated().map { number, line in
                ["auth_user": [.string(String(number))], "action": "route", "outbound": .string(line)]
            })
    }

    /// The proxy address that uses a line.
    package static func proxy(for number: Int, access: EngineAccess) -> HTTPRequest.Proxy {
        .url("http://\(number):\(access.secret)@127.0.0.1:\(access.inboundPort)")
    }
}
