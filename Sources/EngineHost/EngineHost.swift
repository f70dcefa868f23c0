// The engine host: a process without any capability that starts, watches and ends the engine, and sets up the inside of its
// sandbox.

internal import Addressing
internal import Commands
internal import EngineProcess
internal import JSON
package import Linux
internal import NetworkPlan
import Notation
internal import TunnelHost

/// Where the engine host finds things; fixed before any privilege was dropped.
package struct EngineHostConfiguration: Sendable {
    /// The engine's program.
    package var engine: String
    /// The root of the state directories.
    package var stateRoot: String
    /// What is needed only while the machine runs, on a file system in memory.
    package var runDirectory: String
    /// The rule-sets that come with the product.
    package var ruleSets: String

    package init(engine: String, stateRoot: String, runDirectory: String, ruleSets: String) {
        self.engine = engine
        self.stateRoot = stateRoot
        self.runDirectory = runDirectory
        self.ruleSets = ruleSets
    }

    /// The engine's working directory, with its memory of selection and mode. In memory, for the engine waits for the disk
    /// whenever a line is selected.
    package var engineDirectory: String { runDirectory + "/engine" }
    /// Where the engine's output is kept; out of the engine's reach.
    package var logDirectory: String { stateRoot + "/engine" }
    /// A user's directory.
    package func userDirectory(_ user: UInt32) -> String { "\(stateRoot)/users/\(user)" }

    /// What the engine host, and with it everything it starts, may reach.
    package var rules: LandlockRules {
        var launch = EngineLaunch(path: engine, directory: engineDirectory)
        launch.readable = [stateRoot + "/users", ruleSets]
        launch.makesSandbox = true
        var rules = launch.rules
        rules.writable.append(logDirectory)
        return rules
    }
}

/// One loop over the worker's socket, the engine's process, its output, and the short-lived copies that wire the sandbox.
///
/// Concurrency: one thread. It enters no namespace itself; copies of it do, for that is for good.
package final class EngineHost {
    let loop: EventLoop
    let channel: HostChannel
    let configuration: EngineHostConfiguration
    let user: UInt32
    let log: EngineLog
    /// The engine's program, open from before this process is confined, by rules that name the file that is there: it is what
    /// runs, also when an upgrade has put another into its place. Nil when there was none.
    let program: OwnedDescriptor?
    var engine: RunningEngine?
    /// What to start once the engine that runs has ended.
    var next: EngineStart?
    /// The latest call to end the engine that has not been answered.
    private var stopAsked: Int?

    /// - Parameters:
    ///   - socket: our end of the pair shared with the worker.
    ///   - user: the user this process runs as.
    package init(
        socket: consuming Descriptor, configuration: EngineHostConfiguration, user: UInt32
    ) throws(SystemCallError) {
        loop = try EventLoop()
        channel = try HostChannel(socket)
        self.configuration = configuration
        self.user = user
        program = try? Self.open(configuration.engine)
        log = EngineLog(directory: configuration.logDirectory)
    }

    /// Opens a program where the descriptors that an engine inherits do not take its number.
    private static func open(_ path: String) throws(SystemCallError) -> OwnedDescriptor {
        OwnedDescriptor(try Directory.openPlace(path).duplicate(atLeast: 64))
    }

    /// Serves the worker until it is gone; then ends the engine.
    package func run() throws(SystemCallError) {
        try ThisProcess.adoptOrphans()
        try loop.watch(channel.descriptor) { [unowned self] _ in hear() }
        try loop.run()
        engine?.process.end(graceMilliseconds: 0)
    }

    func tell(_ event: HostEvent, descriptor: Int32? = nil) {
        if !channel.send(event.json, descriptor: descriptor) { loop.stop() }
    }

    private func hear() {
        while true {
            switch channel.receive() {
            case .nothing: return
            case .gone: return loop.stop()
            case .message(let json, let descriptors):
                descriptors.forEach { Descriptor(owning: $0).close() }
                guard let call = HostCall(json: json) else { return loop.stop() }
                answer(call)
            }
        }
    }

    func answer(_ call: HostCall) {
        switch call {
        case .start(let start): self.start(start)
        case .wire(let generation): wire(generation)
        case .mode(let generation): tellMode(generation)
        case .stop(let generation): stop(generation)
        case .listing: list()
        case .log: sendLog()
        }
    }

    private func sendLog() {
        if let engine {
            drainOutput(engine)
            if engine.hasFallenSilent { finish(engine) }
        }
        do {
            let reader = try log.reader()
            tell(.log(nil), descriptor: reader.number)
        } catch {
            tell(.log(Failure(.noLog, "The engine has written no log yet.", remedy: "Connect first.")))
        }
    }

    private func stop(_ generation: Int) {
        next = nil
        guard let engine else { return tell(.stopped(generation: generation)) }
        stopAsked = generation
        engine.isWanted = false
        end(engine)
    }

    /// Asks the engine to end, and sees to it that it does.
    func end(_ engine: RunningEngine) {
        engine.process.signal(Signal.terminate)
        engine.timers.append(
            loop.after(milliseconds: Self.grace) { [weak engine] in _ = engine?.process.signal(Signal.kill) })
    }

    /// The time an engine is given to end by itself, in milliseconds.
    private static let grace = 400

    // MARK: Starting

    private func start(_ start: EngineStart) {
        if let engine {
            if engine.isWanted, engine.exitCode == nil, engine.isSame(as: start, profile: try? profile(of: start.owner))
            {
                engine.start.generation = start.generation
                return tell(.unchanged(generation: start.generation))
            }
            next = start
            engine.isWanted = false
            end(engine)
            return
        }
        do {
            try launch(start)
        } catch let failure as Failure {
            tell(.failed(generation: start.generation, failure))
        } catch {
            tell(
                .failed(
                    generation: start.generation,
                    Failure(
                        .engineMissing, "The engine could not be started: \(error).",
                        remedy: "Look at the worker's log; run trocket-controller doctor.")))
        }
    }

    func launch(_ start: EngineStart) throws {
        let program = try checkMachine()
        let profile = try profile(of: start.owner)
        let api = APIReport(
            address: "127.0.0.1:\(try Loopback.freePort())", secret: hexadecimal(try randomBytes(32)))
        let engine = try RunningEngine(
            start, program: program, profile: profile, api: api, configuration: configuration)
        log.begin(for: start.owner)
        self.engine = engine
        tell(
            .started(
                generation: start.generation, pid: engine.process.pid, api: api,
                profile: RunningEngine.fingerprint(profile)))
        try watch(engine)
    }

    // MARK: The engine's end

    /// The engine's first process has ended; its helpers follow within milliseconds and let go of its files. They are waited
    /// for, so that the next engine finds the cache free and a disconnected tunnel has left nothing running.
    func ended(_ engine: RunningEngine) {
        guard let code = engine.process.reap(), engine.exitCode == nil else { return }
        engine.exitCode = code
        engine.endProcessWatch(in: loop)
        drainOutput(engine)
        guard !engine.hasFallenSilent else { return finish(engine) }
        engine.timers.append(loop.after(milliseconds: Self.lingering) { [unowned self] in finish(engine) })
    }

    /// The longest the helpers are waited for, in milliseconds.
    private static let lingering = 1_000

    /// Nothing of the engine is left: tells the worker, or starts the next.
    func finish(_ engine: RunningEngine) {
        guard let code = engine.exitCode, self.engine === engine else { return }
        engine.release(from: loop)
        self.engine = nil
        if engine.isListed { tell(.listing([])) }
        // A hostile engine may leave something behind that runs as its user, which the guard lets out.
        ThisProcess.endChildren()
        if engine.isWanted { tell(.failed(generation: engine.start.generation, diagnosis(engine, code: code))) }
        if let generation = stopAsked {
            stopAsked = nil
            tell(.stopped(generation: generation))
        }
        if let start = next {
            next = nil
            self.start(start)
        } else {
            loop.after(milliseconds: 0) { [unowned self] in tidy() }
        }
    }

    /// Only now, for what an engine gone wrong left may take longer to remove than the worker waits for an answer. Whoever
    /// starts one before tidies first.
    private func tidy() {
        if engine == nil { try? EngineFolder(configuration).tidy() }
    }
}
