// One engine that runs: its process, its output, its sandbox, and what is being waited for.

internal import Addressing
internal import Commands
internal import EngineProcess
internal import JSON
internal import Linux
internal import NetworkPlan

/// The namespaces of a sandbox, kept open while its engine is the current one.
final class HeldNamespaces {
    private let namespaces: SandboxNamespaces
    init(_ namespaces: consuming SandboxNamespaces) { self.namespaces = namespaces }
    var user: Int32 { namespaces.user.number }
    var network: Int32 { namespaces.network.number }
}

/// An engine and what belongs to it.
final class RunningEngine {
    var start: EngineStart
    let profile: [UInt8]
    let api: APIReport
    let port: UInt16
    let process: ChildProcess
    let output: OwnedDescriptor
    let pidFileWatch: DirectoryWatch
    var namespaces: HeldNamespaces?
    var isReady = false
    /// False once it was asked to end.
    var isWanted = true
    /// Why it is being ended, when it is not the worker's wish.
    var failure: Failure?
    /// How its first process ended.
    var exitCode: Int32?
    /// Whether nobody can write to its output any more.
    var hasFallenSilent = false
    var processWatch: EventLoop.Token?
    var outputWatch: EventLoop.Token?
    var outputRest: EventLoop.Token?
    var pidWatch: EventLoop.Token?
    var timers: [EventLoop.Token] = []
    var deadline: EventLoop.Token?
    var attempt: (OwnedDescriptor, EventLoop.Token)?
    /// The question for its mode that is under way.
    var question: ModeQuestion?
    var retryPending = false
    /// Copies that work inside the sandbox.
    var copies: [SandboxCopy] = []
    /// Whether the worker waits for a listing of the sandbox.
    var isListed = false

    /// Starts an engine.
    /// - Parameter program: its path, or that of a descriptor which holds it open.
    init(
        _ start: EngineStart, program: String, profile: [UInt8], api: APIReport, configuration: EngineHostConfiguration
    ) throws {
        self.start = start
        self.profile = profile
        self.api = api
        port = UInt16(api.address.split(separator: ":").last ?? "") ?? 0
        let directory = configuration.engineDirectory
        // Whatever an earlier engine left, a trap perhaps, is not this one's; its pid file least of all.
        try EngineFolder(configuration).prepare()
        pidFileWatch = try DirectoryWatch(directory)

        let ports = SandboxPorts()
        var tunnel = TunnelConfiguration(
            tunAddresses: AddressFamily.allCases.filter { $0 == .ipv4 || start.hasIPv6 }.map {
                start.addresses.tun($0).description
            },
            redirectPort: ports.redirect.rawValue, tproxyPort: ports.tproxy.rawValue,
            pidFile: "\(directory)/\(EngineFolder.pidFile)", apiPort: port, secret: api.secret,
            cacheFile: "\(directory)/\(EngineFolder.cache)", cacheOwner: String(start.owner))
        tunnel.redirects = start.redirects
        tunnel.hasIPv6 = start.hasIPv6
        let first = try memoryFile("tunnel", holding: tunnel.json.encoded())
        let second = try memoryFile("profile", holding: profile)
        let pipe = try Pipe()
        var launch = EngineLaunch(path: program, directory: directory)
        launch.configurations = [first.number, second.number]
        launch.output = pipe.writer.number
        // The user's own: a link in its place would lead to what the engine's user may read of others.
        let ruleSets = try? Directory(configuration.userDirectory(start.owner) + "/rule-sets")
        launch.readable = [configuration.ruleSets]
        switch ruleSets {
        case .some(let folder) where (try? folder.status().owner) == start.owner:
            launch.readable.append("/proc/self/fd/\(folder.descriptor.number)")
        default: break
        }
        launch.makesSandbox = true
        launch.files = [EngineFolder.cache, EngineFolder.pidFile]
        launch.ports = [port, ports.redirect.rawValue, ports.tproxy.rawValue]
        process = try launch.start(asOwnUser: true)
        let reader = pipe.keepingReader()
        try reader.setNonBlocking(true)
        output = OwnedDescriptor(reader)
    }

    /// Whether starting with these would give the same engine.
    func isSame(as other: EngineStart, profile: [UInt8]?) -> Bool {
        var other = other
        other.generation = start.generation
        return other == start && profile == self.profile
    }

    /// What tells a profile from another one (FNV-1a): against accidents, for a profile is its owner's own.
    static func fingerprint(_ profile: [UInt8]) -> String {
        "\(profile.count)-" + String(fnv1a(profile), radix: 16)
    }

    func endPidWatch(in loop: EventLoop) {
        if let pidWatch { loop.cancel(pidWatch) }
        pidWatch = nil
    }

    func endProcessWatch(in loop: EventLoop) {
        if let processWatch { loop.cancel(processWatch) }
        processWatch = nil
    }

    func endOutputWatch(in loop: EventLoop) {
        for token in [outputWatch, outputRest].compactMap(\.self) { loop.cancel(token) }
        outputWatch = nil
        outputRest = nil
    }

    /// Lets go of everything in the loop.
    func release(from loop: EventLoop) {
        endPidWatch(in: loop)
        endProcessWatch(in: loop)
        endOutputWatch(in: loop)
        (timers + (deadline.map { [$0] } ?? [])).forEach { loop.cancel($0) }
        if let attempt { loop.cancel(attempt.1) }
        attempt = nil
        question?.end(in: loop)
        question = nil
        copies.forEach { $0.end() }
        copies = []
    }
}
