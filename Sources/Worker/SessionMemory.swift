// What the worker remembers beyond its own life: a tunnel that is wanted with the kill switch on, and who likes the kill
// switch.

internal import JSON
internal import Linux
internal import Logging
internal import Session

/// The file `session.json` in the worker's runtime directory.
final class SessionMemory {
    private static let name = "session.json"
    private static let version = 1

    private let directory: Directory
    private let owner: UInt32
    private let log: Log
    private let boot: String
    /// What is wanted; nil when nothing is.
    private(set) var wanted: Intent?
    /// The profile of the engine that domestic traffic goes past; nil while it goes into the engine.
    private(set) var domesticProfile: String?
    /// The kill switch as each user left it.
    private var killSwitches: [UInt32: Bool] = [:]
    /// When workers took up the wanted tunnel of one that had died, in nanoseconds since boot.
    private var resumptions: [UInt64] = []
    /// Resumptions count together within so long a time, in milliseconds.
    private static let lately = 300_000
    /// The user the last tunnel belonged to, who may read the engine's log.
    private(set) var lastOwner: UInt32?

    /// Reads what is there; a torn or foreign file is said and then replaced at the next change.
    init(in directory: consuming Directory, owner: UInt32, log: Log) {
        self.directory = directory
        self.owner = owner
        self.log = log
        boot = ((try? KernelFile.read("/proc/sys/kernel/random/boot_id")) ?? nil) ?? ""
        do {
            guard let bytes = try self.directory.read(Self.name, owner: owner, limit: 65_536) else { return }
            load(try JSON.parse(bytes))
        } catch {
            log(.error, "what was remembered cannot be read", ["file": Self.name, "error": "\(error)"])
        }
    }

    private func load(_ document: JSON) {
        guard document["version"].int == Self.version else { return }
        lastOwner = document["lastOwner"].int.flatMap(UInt32.init(exactly:))
        for member in document["killSwitches"].object?.members ?? [] {
            if let user = UInt32(member.key), let on = member.value.bool { killSwitches[user] = on }
        }
        // A tunnel of another boot is gone with everything it had on the host.
        guard document["boot"].string == boot,
            let user = document["wanted"]["owner"].int.flatMap(UInt32.init(exactly:)),
            let killSwitch = document["wanted"]["killSwitch"].bool
        else { return }
        let seconds = document["wanted"]["confirmSeconds"].int.flatMap { $0 > 0 ? $0 : nil }
        wanted = Intent(owner: user, killSwitch: killSwitch, confirmSeconds: seconds)
        domesticProfile = document["wanted"]["domesticProfile"].string
        resumptions = document["resumptions"].listed.compactMap { $0.int.flatMap(UInt64.init(exactly:)) }
    }

    /// The kill switch as a user left it; off for one never seen.
    func killSwitch(of user: UInt32) -> Bool { killSwitches[user] ?? false }

    /// A tunnel is wanted.
    func remember(_ intent: Intent) {
        wanted = intent
        lastOwner = intent.owner
        killSwitches[intent.owner] = intent.killSwitch
        if !intent.domestic { domesticProfile = nil }
        resumptions = []
        save()
    }

    /// Domestic traffic goes past an engine with this profile, or into the engine.
    func noteDomestic(_ profile: String?) {
        guard profile != domesticProfile else { return }
        domesticProfile = profile
        save()
    }

    /// Writes down that the wanted tunnel of a worker that died is taken up.
    /// - Returns: how often that happened lately, this time included.
    func noteResumption() -> Int {
        let now = Moment.now
        resumptions.removeAll { now.milliseconds(since: Moment(nanoseconds: $0)) > Self.lately }
        resumptions.append(now.nanoseconds)
        save()
        return resumptions.count
    }

    /// No tunnel is wanted any more.
    func forget() {
        guard wanted != nil else { return }
        wanted = nil
        domesticProfile = nil
        resumptions = []
        guard !save() else { return }
        // Better nothing is known than that the tunnel is wanted still; removing needs no room.
        do { try directory.remove(Self.name) } catch {
            log(.error, "what is wanted no longer cannot be forgotten", ["error": "\(error)"])
        }
    }

    /// - Returns: whether it is written.
    @discardableResult
    private func save() -> Bool {
        var switches = JSONObject()
        for (user, on) in killSwitches.sorted(by: { $0.key < $1.key }) { switches[String(user)] = .bool(on) }
        let document: JSON = [
            "version": .int(Self.version), "boot": .string(boot), "lastOwner": .optional(lastOwner),
            "wanted": wanted.map {
                [
                    "owner": .int($0.owner), "killSwitch": .bool($0.killSwitch),
                    "confirmSeconds": .optional($0.confirmSeconds), "domesticProfile": .optional(domesticProfile),
                ]
            } ?? .null,
            "resumptions": .array(resumptions.map { .int($0) }),
            "killSwitches": .object(switches),
        ]
        do {
            try directory.replace(Self.name, with: document.encoded(), mode: 0o600)
            return true
        } catch {
            log(.error, "cannot remember what is wanted", ["error": "\(error)"])
            return false
        }
    }
}
