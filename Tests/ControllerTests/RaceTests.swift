// Two commands at once: what another one does in between, and who settles what is in force.

import CommandLine
import Commands
import EngineControl
import JSON
import Linux
import Messages
import Profiles
import Store
import Synchronization
import Testing

@testable import Controller

/// A controller's surroundings beside a tunnel, with a stored subscription of one line.
private final class Desk {
    let tunnel: FakeTunnel
    let context: Context
    let directory: StateDirectory
    private let folder: TemporaryDirectory
    /// Whether the proof of a connection has begun: its address was asked for.
    private let proves = Flag()

    static let line = StoredLine(
        identity: "a", tag: "A", name: "A", type: "trojan", server: "", port: nil, multiplier: nil)

    /// - Parameter between: called before a change is carried out, with its words.
    init(
        _ contents: FakeTunnel.Contents = FakeTunnel.Contents(), mode: String = "rule",
        between: @escaping @Sendable (String, FakeTunnel, String) -> Void = { _, _, _ in }
    ) throws {
        folder = try TemporaryDirectory()
        let path = folder.path
        tunnel = try FakeTunnel(contents) { between($0, $1, path) }
        let (socket, proves) = (tunnel.socket, proves)
        let output = Output(
            language: .english, json: true, quiet: true, isWatched: false, columns: 80, writeOutput: { _ in },
            writeError: { _ in })
        context = Context(
            output: output,
            variable: {
                switch $0 {
                case "TROCKET_SOCKET": return socket
                case "TROCKET_PROBE_URL":
                    proves.isUp = true
                    return "https://127.0.0.1:1/"
                // Without them no domestic address is known to be direct.
                case "TROCKET_RULE_SETS": return "/nonexistent"
                default: return Surroundings.variable($0)
                }
            }, stateDirectory: path)
        directory = try context.state()
        let record = SubscriptionRecord(
            link: nil, agent: nil, title: nil, format: "sing-box", fetchedAt: 0, intervalHours: nil, quota: nil,
            lines: [Self.line], sources: [], report: nil, domesticAddressesAreDirect: true, engine: "")
        try directory.commit(record, profile: Array("{}".utf8), bodies: []) { $0.preferences.mode = mode }
    }

    deinit {
        tunnel.stop()
        _ = try? directory.forget()
        if let folder = try? Directory(context.stateDirectory) {
            for name in (try? folder.names()) ?? [] { _ = try? folder.remove(name) }
        }
    }

    var contents: FakeTunnel.Contents { tunnel.contents.withLock { $0 } }

    func connect(mode: RoutingMode? = nil, line: LineChoice? = nil, killSwitch: Bool? = nil) throws {
        // What counts has been done before the proof, which is given up.
        context.isInterrupted = { [proves] in proves.isUp }
        #expect(throws: Controller.Failure.self) {
            _ = try Connecting.connect(
                context, directory, line: line, mode: mode, killSwitch: killSwitch, confirm: nil, seconds: 60)
        }
    }
}

/// Something that has happened.
private final class Flag {
    var isUp = false
}

@Suite struct RaceTests {
    @Test func theEngineIsSwitchedBeforeDomesticTrafficIs() throws {
        let desk = try Desk()
        #expect(try Moding.apply(.global, desk.context, desk.directory))
        #expect(try Moding.apply(.rule, desk.context, desk.directory))
        #expect(desk.contents.calls == ["Global", "domestic off", "Rule", "domestic on"])
    }

    @Test func aGlobalModeThatCameInBetweenTakesDomesticTrafficBack() throws {
        let desk = try Desk { words, tunnel, _ in
            guard words == "domestic on" else { return }
            tunnel.contents.withLock {
                $0.mode = "Global"
                $0.isFast = false
            }
        }
        #expect(try Moding.apply(.rule, desk.context, desk.directory))
        #expect(desk.contents.mode == "Global" && !desk.contents.isFast)
    }

    @Test func aProfileThatCameInBetweenTakesDomesticTrafficBack() throws {
        let desk = try Desk { words, _, path in
            guard words == "domestic on" else { return }
            _ = try? StateDirectory(path).update { $0.subscription?.domesticAddressesAreDirect = false }
        }
        #expect(try Moding.apply(.rule, desk.context, desk.directory))
        #expect(!desk.contents.isFast)
    }

    @Test func aWorkerThatCannotLeadDomesticTrafficBackKeepsTheEngineInRuleMode() throws {
        var contents = FakeTunnel.Contents()
        contents.isFast = true
        contents.isStuck = true
        let desk = try Desk(contents)
        #expect(throws: Controller.Failure.self) { _ = try Moding.apply(.global, desk.context, desk.directory) }
        #expect(desk.contents.calls == ["Global", "domestic off", "Rule"])
        #expect(try desk.directory.load().preferences.mode == "rule")
    }

    /// An engine starts in the mode it was left in: interrupted at any moment, no Global engine has domestic traffic beside it.
    @Test(arguments: [(RoutingMode.rule, "domestic on soon"), (.global, "domestic off")])
    func connectAsksForDomesticTrafficLast(mode: RoutingMode, last: String) throws {
        var contents = FakeTunnel.Contents()
        contents.state = .disconnected
        contents.mode = "Global"
        let desk = try Desk(contents)
        try desk.connect(mode: mode)
        #expect(desk.contents.calls.first == "connect" && desk.contents.calls.last == last)
        #expect(Set(desk.contents.calls) == ["connect", "select auto", mode.rawValue, last])
    }

    /// The later command counts, whichever of the two ends last.
    @Test func whatIsChosenDuringAConnectIsInForceAfterIt() throws {
        var contents = FakeTunnel.Contents()
        contents.state = .disconnected
        let between: @Sendable (String, FakeTunnel, String) -> Void = { words, _, path in
            guard words == "connect" else { return }
            _ = try? StateDirectory(path).update {
                $0.preferences.mode = "global"
                $0.preferences.selection = Selection(identity: Desk.line.identity, name: Desk.line.name)
            }
        }
        let desk = try Desk(contents, between: between)
        try desk.connect()
        #expect(desk.contents.mode == "Global" && desk.contents.selected == "A" && !desk.contents.isFast)
        #expect(try desk.directory.load().preferences.mode == "global")
        // What a command names is what it does.
        let other = try Desk(contents, between: between)
        try other.connect(mode: .rule, line: .automatic)
        #expect(other.contents.mode == "Rule" && other.contents.selected == "auto" && other.contents.isFast)
        #expect(try other.directory.load().preferences.mode == "rule")
    }

    /// What the old profile allowed ends before the new one is there, and again after it.
    @Test(.enabled(if: (try? EngineBinary.find()) != nil, "no engine: set TROCKET_ENGINE to a sing-box 1.14 or newer"))
    func aProfileThatDoesNotAllowItLeadsDomesticTrafficIntoTheEngine() throws {
        let stored = Mutex<[Bool?]>([])
        let desk = try Desk { words, tunnel, path in
            let state = try? StateDirectory(path).load()
            stored.withLock { $0.append(state?.subscription?.domesticAddressesAreDirect) }
            // Another command has seen the old one meanwhile.
            tunnel.contents.withLock { $0.isFast = true }
        }
        let source = "\(desk.context.stateDirectory)/sub.yaml"
        try UserFile.write(
            source, Array("proxies: [{name: a, type: trojan, server: node.test, port: 443, password: x}]".utf8))
        let command = try Program.table.parse(["import", source])
        #expect(try Verb.importSubscription.run(desk.context, command) == .done)
        #expect(desk.contents.calls == ["domestic off", "domestic off"] && !desk.contents.isFast)
        #expect(stored.withLock { $0 } == [true, false])
        #expect(try Verb.update.run(desk.context, try Program.table.parse(["update"])) == .done)
        #expect(desk.contents.calls.count == 4)
    }

    @Test func globalModeDuringAConnectLeadsDomesticTrafficIntoTheEngine() throws {
        var contents = FakeTunnel.Contents()
        contents.state = .connecting
        let desk = try Desk(contents)
        #expect(try !Moding.apply(.global, desk.context, desk.directory))
        #expect(desk.contents.calls == ["domestic off"])
    }
}
