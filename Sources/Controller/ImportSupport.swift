// What the verbs about the subscription share: the state directory, the importer, progress, and failures of an import.

import EngineControl
import Importing
import JSON
import Linux
import Messages
import Profiles
import RuleSets
import Store
import Transfer

extension Context {
    /// The state directory for an import: one named with `--state-dir` is made when it is missing, and one in which nothing
    /// can be written is refused before anything is fetched.
    func stateForImport() throws(StoreError) -> StateDirectory {
        let store = try StateDirectory(stateDirectory, makingIt: stateDirectoryIsGiven)
        try store.requireWritable()
        return store
    }

    /// An importer for this machine.
    /// - Parameter store: where rule-sets are kept; nil downloads none.
    func importer(store: StateDirectory?) throws(EngineFailure) -> Importer {
        let engine = try EngineBinary.find(environment: variable)
        let output = output
        // A slow answer is waited for in one stage: its text is shown again until half a second has passed and after.
        var stage: ImportStage?
        let show = { if let stage { output.progress(Self.text(stage)) } }
        let fetcher = Fetcher(client: client, environment: variable, tick: show)
        return Importer(
            engine: engine, client: client, library: RuleSetLibrary(store: store, bundled: ruleSetDirectory),
            fetch: { fetcher.fetch($0) }, prepare: { fetcher.prepare(&$0) }, options: ShapingOptions(),
            now: { Int(wallClock()) },
            progress: {
                stage = $0
                show()
            })
    }

    /// Finds out what SOURCE names.
    func source(_ argument: String) throws -> ImportSource {
        try ImportSource.resolve(
            argument,
            standardInput: {
                do throws(SystemCallError) {
                    return try UserFile.readStandardInput(limit: ImportSource.limit)
                } catch {
                    throw ImportError.badSource(
                        "无法读取标准输入：\(error.errno.text(.chinese))。", "Standard input cannot be read: \(error.errno).")
                }
            },
            file: { path in
                do throws(SystemCallError) { return try UserFile.read(path, limit: ImportSource.limit) } catch {
                    throw ImportError.badSource(
                        "无法读取文件 \(path)：\(error.errno.text(.chinese))。",
                        "The file \(path) cannot be read: \(error.errno).")
                }
            })
    }

    /// Makes the stored subscription's profile anew from the bodies kept and puts it in place.
    /// - Throws: as `Importer.remake` and `commit`.
    func remake(_ store: StateDirectory, _ state: State) throws -> ImportOutcome {
        guard let record = state.subscription else { throw StoreError.noSubscription }
        try store.requireWritable()
        let importer = try importer(store: store)
        var outcome = try importer.remake(record, from: store, selection: state.preferences.selection)
        outcome.fetchedAt = record.fetchedAt
        try put(outcome, by: importer, link: record.link, agent: record.agent, in: store)
        return outcome
    }

    /// Puts a new profile in place of the one that is there. The engine takes it when it is started the next time, which may
    /// be after a crash: domestic traffic that it does not let go past the engine is led into it before, and once more
    /// afterwards, as another command may have seen the old one meanwhile.
    /// - Throws: as `Importer.commit`.
    func put(
        _ outcome: ImportOutcome, by importer: Importer, link: String?, agent: String?, in store: StateDirectory
    ) throws {
        if !outcome.domesticAddressesAreDirect { Moding.leadIntoEngine(self) }
        try importer.commit(outcome, link: link, agent: agent, to: store)
        if !outcome.domesticAddressesAreDirect { Moding.leadIntoEngine(self) }
    }

    /// The stored profile. One that is gone or is not its subscription's is made anew first: all that is in it comes from
    /// there.
    /// - Throws: `StoreError`, and as `remake`.
    func wholeProfile(_ store: StateDirectory, _ state: State) throws -> [UInt8] {
        guard let record = state.subscription else { throw StoreError.noSubscription }
        do throws(StoreError) { return try store.profile(of: record) } catch {
            guard error.code == .torn else { throw error }
        }
        _ = try remake(store, state)
        output.note(
            Text(
                "profile.json 与订阅不符，已用保存的原文重新生成。",
                "profile.json was not this subscription's; it was made anew from the text kept."))
        return try store.profile()
    }

    private static func text(_ stage: ImportStage) -> Text {
        switch stage {
        case .fetching(let agent): Text("正在获取订阅（\(agent)）…", "Fetching the subscription (\(agent))…")
        case .reading: Text("正在转换…", "Converting…")
        case .fetchingProviders(let count): Text("正在获取 \(count) 个线路列表…", "Fetching \(count) lists of lines…")
        case .ruleSets(let done, let count): Text("规则集 \(done)/\(count)…", "Rule-sets \(done)/\(count)…")
        case .checking: Text("正在用内核检查…", "Checking with the engine…")
        case .rechecking(let round):
            Text("内核拒绝了一项，再次检查（\(round)）…", "The engine refused something; checking again (\(round))…")
        }
    }
}

extension Failure {
    /// A failed import.
    init(_ error: ImportError) {
        self.init(
            error.code.rawValue, error.isTemporary ? .temporary : .badInput, error.message, remedy: error.remedy,
            more: error.status.map { [("status", .int($0))] } ?? [])
    }
}

extension Errno {
    /// What the system says, in its own words or in Chinese where the user can do something about it.
    var text: Text {
        let english = description
        return switch self {
        case .noSuchFile: Text("没有这个文件", english)
        case .accessDenied, .notPermitted: Text("没有权限", english)
        case .isDirectory: Text("这是目录", english)
        case .notADirectory: Text("路径中有一段不是目录", english)
        case .tooLarge: Text("文件太大", english)
        case .noSpace: Text("磁盘空间不足", english)
        default: Text(verbatim: english)
        }
    }
}
