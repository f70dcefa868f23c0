// The ledger: what this program has put on the host, written before it is put there, so that exactly that can be undone.

internal import Addressing
internal import JSON
package import Linux
package import NetworkPlan

/// A ledger file that cannot be used, and why. It is left as it is.
package struct LedgerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    package let path: String
    /// What is wrong with it.
    package let problem: String

    package var description: String {
        "the ledger \(path) cannot be used: \(problem); what a crash left is recognised by its numbers instead, and the "
            + "file is replaced at the next connection"
    }
}

/// What the ledger says is on the host: enough to find it again, objects with our numbers only.
package struct LedgerEntries: Hashable, Sendable {
    /// True when there may be a link of ours.
    package var hasLink = false
    /// Rules, as family and text.
    package var rules: Set<String> = []
    /// True when our tables may hold routes.
    package var hasRoutes = false
    /// The guard's lifetime; nil when there is none.
    package var guardLifetime: GuardTable.Lifetime?
    /// True when the link's DNS was handed to systemd-resolved.
    package var hasDNS = false

    /// Nothing.
    package init() {}

    /// What a plan puts on the host.
    package init(_ plan: HostPlan) {
        hasLink = plan.link != nil
        rules = Set(plan.rules.map(Self.key))
        hasRoutes = !plan.routes.isEmpty || !plan.domestic.isEmpty
        guardLifetime = plan.guardTable?.lifetime
    }

    /// The text a rule is found by.
    package static func key(_ rule: RoutingRule) -> String { (rule.family == .ipv4 ? "4 " : "6 ") + rule.description }

    /// Both together: what may be there while one is turned into the other.
    package func union(_ other: LedgerEntries) -> LedgerEntries {
        var all = self
        all.hasLink = hasLink || other.hasLink
        all.rules.formUnion(other.rules)
        all.hasRoutes = hasRoutes || other.hasRoutes
        all.guardLifetime = other.guardLifetime ?? guardLifetime
        all.hasDNS = hasDNS || other.hasDNS
        return all
    }

    /// True when nothing is recorded.
    package var isEmpty: Bool { self == LedgerEntries() }
}

/// The ledger file in the worker's runtime directory.
package struct Ledger: ~Copyable {
    private let directory: Directory
    private let owner: UInt32
    private let boot: String

    private static let name = "ledger.json"
    private static let version = 1
    private static let sizeLimit = 1 << 18

    /// - Parameters:
    ///   - directory: the worker's runtime directory.
    ///   - owner: the user that must own the file.
    /// - Throws: `SystemCallError` when the kernel does not tell which boot this is.
    package init(in directory: consuming Directory, owner: UInt32) throws(SystemCallError) {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let boot = try KernelFile.read(path) else { throw SystemCallError("reading", path, .noSuchFile) }
        self.directory = directory
        self.owner = owner
        self.boot = boot
    }

    /// What is recorded for this boot; nil when there is no ledger or it is of another boot (then nothing of it is left).
    /// - Throws: `LedgerError` for a torn or foreign file, `SystemCallError`.
    package borrowing func read() throws -> LedgerEntries? {
        let path = "\(directory.path)/\(Self.name)"
        let bytes: [UInt8]?
        do { bytes = try directory.read(Self.name, owner: owner, limit: Self.sizeLimit) } catch let error
            as UntrustedFile
        {
            throw LedgerError(path: path, problem: error.problem)
        }
        guard let bytes else { return nil }
        let document: JSON
        do { document = try JSON.parse(bytes) } catch { throw LedgerError(path: path, problem: "it is not whole JSON") }
        guard document["version"].int == Self.version, let writtenAt = document["boot"].string else {
            throw LedgerError(path: path, problem: "it is not a ledger of this version")
        }
        return writtenAt == boot ? LedgerEntries(document) : nil
    }

    /// Records what is, or is about to be, on the host; an empty record removes the file.
    package borrowing func write(_ entries: LedgerEntries) throws(SystemCallError) {
        guard !entries.isEmpty else {
            try directory.remove(Self.name)
            return
        }
        let document = entries.document(version: Self.version, boot: boot)
        try directory.replace(Self.name, with: document.encoded(pretty: true), mode: 0o600)
    }
}

extension LedgerEntries {
    fileprivate func document(version: Int, boot: String) -> JSON {
        let lifetime: JSON =
            switch guardLifetime {
            case .none: .null
            case .worker: "worker"
            case .persistent: "persistent"
            }
        return [
            "version": .int(version), "boot": .string(boot), "link": .bool(hasLink), "routes": .bool(hasRoutes),
            "guard": lifetime, "dns": .bool(hasDNS), "rules": .strings(rules.sorted()),
        ]
    }

    fileprivate init(_ document: JSON) {
        hasLink = document["link"].bool ?? false
        hasRoutes = document["routes"].bool ?? false
        hasDNS = document["dns"].bool ?? false
        rules = Set(document["rules"].listed.compactMap(\.string))
        guardLifetime =
            switch document["guard"].string {
            case "worker": .worker
            case "persistent": .persistent
            default: nil
            }
    }
}
