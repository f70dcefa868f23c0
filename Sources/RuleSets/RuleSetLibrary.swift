// Having the rule-sets of a profile on this machine: the bundled ones, downloads, and copies of earlier downloads.

package import EngineControl
import Linux
import Notation
package import Profiles
package import Store
import Subscriptions
package import Transfer

/// What was gathered for one profile.
package struct GatheredRuleSets: Sendable {
    /// For the shaper, the bundled ones first.
    package var local: [LocalRuleSet] = []
    /// One for each set, bundled and needed.
    package var reports: [RuleSetReport] = []
    /// What the index will hold once the import is accepted.
    package var cached: [CachedRuleSet] = []
    /// Files that were not there before.
    var fresh: [String] = []

    package init() {}
}

/// The rule-sets of this machine. Files are named by their content, so a new download never changes what a running engine
/// reads; what neither the profile nor the one before it needs is removed by `settle`.
package struct RuleSetLibrary {
    /// Downloads are held to this many bytes each.
    package static let limit = 32 << 20
    /// Rule-sets a profile may bring.
    package static let most = 64

    private let store: StateDirectory?
    private let bundledDirectory: String

    /// - Parameters:
    ///   - store: where downloads are kept; nil downloads nothing and keeps nothing.
    ///   - bundled: the directory of `geosite-cn.srs` and `geoip-cn.srs`.
    package init(store: StateDirectory?, bundled: String) {
        self.store = store
        bundledDirectory = bundled
    }

    /// The bundled Chinese sets that are installed.
    package func bundled() -> GatheredRuleSets {
        var gathered = GatheredRuleSets()
        for tag in [ProfileTag.domesticNames, ProfileTag.domesticAddresses] {
            let file = "\(tag).srs"
            guard let directory = try? Directory(bundledDirectory),
                let bytes = try? directory.read(file, owner: nil, limit: Self.limit)
            else {
                gathered.reports.append(
                    RuleSetReport(tag: tag, status: .removed, reason: "\(bundledDirectory)/\(file) is not installed"))
                continue
            }
            gathered.local.append(
                LocalRuleSet(tag: tag, path: "\(directory.resolvedPath())/\(file)", isBundled: true))
            gathered.reports.append(
                RuleSetReport(tag: tag, status: .bundled, bytes: bytes.count, sha256: Self.digest(bytes)))
        }
        return gathered
    }

    /// Gathers what a profile needs.
    /// - Parameters:
    ///   - needs: the remote sets the profile's rules name.
    ///   - client: runs the downloads, eight at a time.
    ///   - prepare: gives each request its proxy and authorities.
    ///   - engine: checks each download.
    ///   - now: seconds since 1970.
    ///   - progress: gets how many of how many are done, about twice a second.
    /// - Throws: `StoreError` when the folder cannot be written, `EngineFailure` when the engine cannot be run.
    package func gather(
        _ needs: [RuleSetNeed], client: HTTPClient, prepare: (inout HTTPRequest) -> Void, engine: EngineBinary,
        now: Int,
        progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws -> GatheredRuleSets {
        var gathered = bundled()
        guard !needs.isEmpty else { return gathered }
        guard let store else {
            gathered.reports += needs.map { removed($0, gathered, "it would have to be downloaded") }
            return gathered
        }
        let index = try readIndex(store)
        let before = try names(store)
        let wanted = Array(needs.prefix(Self.most))
        // One address may serve several tags.
        var urls: [String] = []
        for need in wanted where !urls.contains(need.url) { urls.append(need.url) }
        var results: [String: Result<HTTPResponse, TransferError>] = [:]
        var done = 0
        progress(0, urls.count)
        let goesOn = {
            progress(done, urls.count)
            return true
        }
        client.perform(urls.map { Self.request($0, prepare) }, concurrency: 8, while: goesOn) { position, result in
            results[urls[position]] = result
            done += 1
        }
        for need in wanted {
            let outcome = try keep(need, results[need.url], store: store, engine: engine, now: now)
            switch outcome {
            case .success(let set): add(set, for: need, reason: set.repair, to: &gathered)
            case .failure(let defect):
                if let old = index[need.url], old.format == need.format, try isThere(old, store) {
                    add(
                        old, for: need, reason: "\(defect.reason); the copy of \(Date.day(old.fetchedAt)) is used",
                        to: &gathered)
                } else {
                    gathered.reports.append(removed(need, gathered, defect.reason))
                }
            }
        }
        gathered.fresh = gathered.cached.map(\.file).filter { !before.contains($0) }
        for need in needs.dropFirst(Self.most) {
            gathered.reports.append(removed(need, gathered, "more than \(Self.most) rule-sets"))
        }
        return gathered
    }

    /// Writes the index and removes what neither it nor the index before names. Call it once the profile is in place.
    package func settle(_ gathered: GatheredRuleSets) throws(StoreError) {
        guard let store else { return }
        let folder = try store.ruleSetFolder()
        // An engine that is running reads the files of the profile it was started with when it has to be started again.
        let previous = try readIndex(store).sets
        do throws(SystemCallError) {
            try folder.replace(RuleSetIndex.file, with: RuleSetIndex(sets: gathered.cached).bytes, mode: 0o600)
            let kept = Set((gathered.cached + previous).map(\.file) + [RuleSetIndex.file])
            for name in try folder.names() where !kept.contains(name) { try folder.remove(name) }
        } catch { throw .cannotUse(store.ruleSetPath, error) }
    }

    /// Removes the files of an import that failed or was only a trial.
    package func discard(_ gathered: GatheredRuleSets) throws(StoreError) {
        guard let store, !gathered.fresh.isEmpty else { return }
        let folder = try store.ruleSetFolder()
        do throws(SystemCallError) { for name in gathered.fresh { try folder.remove(name) } } catch {
            throw .cannotUse(store.ruleSetPath, error)
        }
    }

    private static func request(_ url: String, _ prepare: (inout HTTPRequest) -> Void) -> HTTPRequest {
        var request = HTTPRequest(.get, url)
        request.redirects = 5
        request.compressed = true
        request.bodyLimit = limit
        prepare(&request)
        return request
    }

    private func keep(
        _ need: RuleSetNeed, _ result: Result<HTTPResponse, TransferError>?, store: StateDirectory,
        engine: EngineBinary,
        now: Int
    ) throws -> Result<CachedRuleSet, RuleSetDefect> {
        let body: [UInt8]
        switch result {
        case .success(let answer) where answer.status == 200: body = answer.body
        case .success(let answer): return .failure(RuleSetDefect(reason: "the server answers \(answer.status)"))
        case .failure(let error): return .failure(RuleSetDefect(reason: error.description))
        case nil: return .failure(RuleSetDefect(reason: "not downloaded"))
        }
        do {
            let checked = try RuleSetCheck.check(body, format: need.format, engine: engine)
            let digest = Self.digest(checked.bytes)
            let set = CachedRuleSet(
                url: need.url, file: digest.prefix(32) + (need.format == .binary ? ".srs" : ".json"),
                format: need.format,
                bytes: checked.bytes.count, sha256: digest, fetchedAt: now, repair: checked.repair)
            let folder = try store.ruleSetFolder()
            do throws(SystemCallError) { try folder.replace(set.file, with: checked.bytes, mode: 0o640) } catch {
                throw StoreError.cannotUse(store.ruleSetPath, error)
            }
            return .success(set)
        } catch let defect as RuleSetDefect { return .failure(defect) }
    }

    private func add(
        _ set: CachedRuleSet, for need: RuleSetNeed, reason: String?, to gathered: inout GatheredRuleSets
    ) {
        guard let store else { return }
        gathered.local.append(
            LocalRuleSet(tag: need.tag, path: "\(store.ruleSetPath)/\(set.file)", format: need.format))
        if !gathered.cached.contains(where: { $0.url == set.url }) { gathered.cached.append(set) }
        gathered.reports.removeAll { $0.tag == need.tag }
        gathered.reports.append(
            RuleSetReport(
                tag: need.tag, status: .cached, url: Self.shown(need.url), bytes: set.bytes, sha256: set.sha256,
                fetchedAt: set.fetchedAt, reason: reason))
    }

    /// A set that cannot be had; one of a bundled set's name has the bundled one behind it, and says so.
    private func removed(_ need: RuleSetNeed, _ gathered: GatheredRuleSets, _ reason: String) -> RuleSetReport {
        let fallback = gathered.local.contains { $0.tag == need.tag }
        return RuleSetReport(
            tag: need.tag, status: .removed, url: Self.shown(need.url),
            reason: fallback ? "\(reason); the bundled set of that name is used" : reason)
    }

    private func readIndex(_ store: StateDirectory) throws(StoreError) -> RuleSetIndex {
        let folder = try store.ruleSetFolder()
        return RuleSetIndex(bytes: ((try? folder.read(RuleSetIndex.file, owner: nil, limit: 4 << 20)) ?? nil) ?? [])
    }

    private func names(_ store: StateDirectory) throws(StoreError) -> Set<String> {
        let folder = try store.ruleSetFolder()
        do throws(SystemCallError) { return Set(try folder.names()) } catch {
            throw .cannotUse(store.ruleSetPath, error)
        }
    }

    private func isThere(_ set: CachedRuleSet, _ store: StateDirectory) throws(StoreError) -> Bool {
        let folder = try store.ruleSetFolder()
        let bytes = (try? folder.read(set.file, owner: nil, limit: Self.limit)) ?? nil
        return bytes.map { Self.digest($0) == set.sha256 } ?? false
    }

    /// An address as it may be shown: the host and the file's name. What stands between, in front and behind may be a
    /// credential of the provider's.
    package static func shown(_ url: String) -> String {
        guard let address = WebAddress(url) else { return "…" }
        let port = address.port.map { ":\($0)" } ?? ""
        let parts = address.path.split(separator: "/")
        let file = parts.last.map(String.init) ?? ""
        let isName = file.hasSuffix(".srs") || file.hasSuffix(".json")
        let way = isName && parts.count == 1 ? "" : "…/"
        return "\(address.scheme)://\(address.host)\(port)/" + (isName ? way + file : "…")
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: SHA256.hash(bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
