// The user's state directory: reading, changing under a lock, replacing an import whole, forgetting.

import JSON
package import Linux

/// The directory the controller writes and the engine reads. Everything in it is replaced whole and read without
/// following links; a damaged or foreign file is an error that names it and is never overwritten.
package final class StateDirectory {
    private let directory: Directory
    /// The uid every file here must belong to: the directory's own.
    private let owner: UInt32

    /// What holds everything but the profile and the sources.
    package static let stateFile = "subscription.json"
    private static let profileFile = "profile.json"
    /// What subscription.json will be once profile.json is in place.
    private static let nextFile = "subscription.next.json"
    /// The last proof of a connection, see `Proof`.
    package static let proofFile = "proof.json"
    private static let sourceFolder = "source"
    private static let ruleSetFolder = "rule-sets"
    private static let logFolder = "logs"
    private static let limit = 256 << 20

    /// The path, for messages.
    package var path: String { directory.path }

    /// Opens the directory.
    /// - Parameter makingIt: whether a missing directory is made (mode 0700), for a path the user named.
    /// - Throws: `StoreError` when it is missing, a link, or cannot be opened.
    package init(_ path: String, makingIt: Bool = false) throws(StoreError) {
        do throws(SystemCallError) {
            directory = try makingIt ? Directory(making: path, mode: 0o700) : Directory(path)
            owner = try directory.status().owner
        } catch {
            switch error.errno {
            case .noSuchFile: throw .missing(path)
            case .symbolicLink, .notADirectory: throw .unusable(path, "it is no directory, or a symbolic link")
            default: throw .unusable(path, error.errno.description)
            }
        }
    }

    /// Refuses a directory in which nothing can be written, before anything is fetched.
    package func requireWritable() throws(StoreError) {
        guard directory.isWritable() else { throw .unusable(path, Errno.accessDenied.description) }
    }

    /// What is remembered; an empty state before the first import. An import interrupted between its two renames is
    /// finished first.
    package func load() throws(StoreError) -> State {
        if directory.holds(Self.nextFile), directory.isWritable() {
            let lock = try locked().release()
            defer { Descriptor(owning: lock).close() }
            try finishInterrupted()
        }
        return try loadAsIs()
    }

    private func loadAsIs() throws(StoreError) -> State {
        guard let bytes = try read(Self.stateFile, in: directory) else { return State() }
        do { return try State(json: JSON.parse(bytes)) } catch let error as JSONError {
            throw .corrupt("\(path)/\(Self.stateFile)", "\(error)")
        } catch let error as StateDefect {
            throw .corrupt("\(path)/\(Self.stateFile)", error.problem)
        } catch {
            throw .corrupt("\(path)/\(Self.stateFile)", "it cannot be read")
        }
    }

    /// Changes what is remembered, under the directory's lock.
    /// - Returns: what the change returns.
    @discardableResult
    package func update<Result>(_ change: (inout State) -> Result) throws(StoreError) -> Result {
        let lock = try locked().release()
        defer { Descriptor(owning: lock).close() }
        try finishInterrupted()
        var state = try loadAsIs()
        let before = state
        let result = change(&state)
        if state != before { try write(state) }
        return result
    }

    /// The bytes of the stored profile.
    /// - Throws: `StoreError`, `noSubscription` when nothing was imported, `torn` when it is not this import's profile.
    package func profile() throws(StoreError) -> [UInt8] {
        guard let record = try load().subscription else { throw StoreError.noSubscription }
        return try profile(of: record)
    }

    /// The same, for a record already loaded.
    package func profile(of record: SubscriptionRecord) throws(StoreError) -> [UInt8] {
        guard let bytes = try read(Self.profileFile, in: directory), Self.check(bytes) == record.profileCheck else {
            throw .torn(path)
        }
        return bytes
    }

    /// Replaces the subscription whole: bodies, profile, record. The new record is written beside the old one, then profile
    /// and record are put in place by a rename each; what comes next after an interruption between the two does the second
    /// rename. Until then the old bodies stay.
    /// - Parameters:
    ///   - bodies: by the names the record's sources give; stored under names the old record does not use.
    ///   - change: sees the state as it is under the lock, for what survives an import, such as the selection.
    package func commit(
        _ record: SubscriptionRecord, profile: [UInt8], bodies: [(file: String, bytes: [UInt8])],
        _ change: (inout State) -> Void
    ) throws(StoreError) {
        let lock = try locked().release()
        defer { Descriptor(owning: lock).close() }
        try finishInterrupted()
        var state = try loadAsIs()
        var record = record
        record.profileCheck = Self.check(profile)
        let files = Self.freeNames(for: bodies.map(\.file), taken: state.subscription?.sources.map(\.file) ?? [])
        for at in record.sources.indices {
            record.sources[at].file = files[record.sources[at].file] ?? record.sources[at].file
        }
        state.subscription = record
        let known = Set(record.lines.map(\.identity))
        state.latencies = state.latencies.filter { known.contains($0.key) }
        change(&state)
        try attempt { () throws(SystemCallError) in
            let folder = try directory.subdirectory(Self.sourceFolder, mode: 0o700)
            for body in bodies { try folder.replace(files[body.file] ?? body.file, with: body.bytes, mode: 0o600) }
            try directory.replace(Self.nextFile, with: state.json.encoded(), mode: 0o600)
            try directory.replace(Self.profileFile, with: profile, mode: 0o640)
            try directory.rename(Self.nextFile, to: Self.stateFile)
        }
        try removeBodies(except: record)
    }

    /// Ends an import that was interrupted: its record is put in place when its profile is there already, else it never
    /// was. To be called under the lock.
    private func finishInterrupted() throws(StoreError) {
        guard directory.holds(Self.nextFile) else { return }
        let next = (try? read(Self.nextFile, in: directory)).flatMap { try? State(json: JSON.parse($0)) }
        let profile = try? read(Self.profileFile, in: directory)
        guard let record = next?.subscription, profile.map(Self.check) == record.profileCheck else {
            return try attempt { () throws(SystemCallError) in try directory.remove(Self.nextFile) }
        }
        try attempt { () throws(SystemCallError) in try directory.rename(Self.nextFile, to: Self.stateFile) }
        try removeBodies(except: record)
    }

    private func removeBodies(except record: SubscriptionRecord) throws(StoreError) {
        try attempt { () throws(SystemCallError) in
            let folder = try directory.subdirectory(Self.sourceFolder, mode: 0o700)
            let kept = Set(record.sources.map(\.file))
            for name in try folder.names() where !kept.contains(name) { try folder.remove(name) }
        }
    }

    /// For each name itself, or a number where it is taken.
    private static func freeNames(for names: [String], taken: [String]) -> [String: String] {
        var taken = Set(taken)
        var free: [String: String] = [:]
        for name in names {
            var number = 1
            var found = name
            while !taken.insert(found).inserted {
                found = String(number)
                number += 1
            }
            free[name] = found
        }
        return free
    }

    /// A body the provider sent; nil when it is gone.
    package func body(_ source: StoredSource) throws(StoreError) -> [UInt8]? {
        let folder: Directory
        do throws(SystemCallError) { folder = try directory.subdirectory(Self.sourceFolder, mode: 0o700) } catch {
            throw .unusable(path, error.description)
        }
        return try read(source.file, in: folder)
    }

    /// The folder of downloaded rule-sets, readable by the engine's group.
    package func ruleSetFolder() throws(StoreError) -> Directory {
        do throws(SystemCallError) {
            let folder = try directory.subdirectory(Self.ruleSetFolder, mode: 0o750)
            // The set-group-ID bit hands the engine's group on to the files; a file mask may have taken 0750 away.
            let group = try directory.status().mode & 0o2000
            let wanted = 0o750 | group
            if try folder.status().mode != wanted { try folder.setMode(wanted) }
            return folder
        } catch { throw .unusable(path, error.description) }
    }

    /// Where rule-set files are, as the engine sees them.
    package var ruleSetPath: String { "\(directory.resolvedPath())/\(Self.ruleSetFolder)" }

    /// The folder of the controller's log, for the user alone.
    package func logFolder() throws(StoreError) -> Directory {
        do throws(SystemCallError) { return try directory.subdirectory(Self.logFolder, mode: 0o700) } catch {
            throw .unusable(path, error.description)
        }
    }

    /// Removes everything, damaged files and the temporary ones of interrupted replacements included.
    /// - Returns: the names of what was removed.
    package func forget() throws(StoreError) -> [String] {
        let lock = try locked().release()
        defer { Descriptor(owning: lock).close() }
        var removed: [String] = []
        try attempt { () throws(SystemCallError) in
            let names = try directory.names()
            for folder in [Self.sourceFolder, Self.ruleSetFolder, Self.logFolder] where names.contains(folder) {
                let inner: Directory
                do throws(SystemCallError) { inner = try directory.subdirectory(folder, mode: 0o700) } catch {
                    // Not a directory: a link or a file of that name.
                    try directory.remove(folder)
                    continue
                }
                let held = try inner.names()
                for name in held { try inner.remove(name) }
                try directory.removeDirectory(folder)
                if !held.isEmpty { removed.append(folder) }
            }
            let files = [Self.stateFile, Self.profileFile, Self.nextFile, Self.proofFile]
            for name in names where files.contains(name) || files.contains(where: { name.hasPrefix(".\($0).") }) {
                try directory.remove(name)
                if !name.hasPrefix(".") { removed.append(name) }
            }
        }
        return removed
    }

    private func write(_ state: State) throws(StoreError) {
        try attempt { () throws(SystemCallError) in
            try directory.replace(Self.stateFile, with: state.json.encoded(), mode: 0o600)
        }
    }

    private func locked() throws(StoreError) -> Descriptor {
        do throws(SystemCallError) { return try directory.lock() } catch {
            throw .unusable(path, error.errno.description)
        }
    }

    private func attempt(_ body: () throws(SystemCallError) -> Void) throws(StoreError) {
        do throws(SystemCallError) { try body() } catch { throw .unusable(path, error.description) }
    }

    private func read(_ name: String, in folder: borrowing Directory) throws(StoreError) -> [UInt8]? {
        do { return try folder.read(name, owner: owner, limit: Self.limit) } catch let error as UntrustedFile {
            throw .corrupt(error.path, error.problem)
        } catch let error as SystemCallError {
            throw .unusable(path, error.description)
        } catch {
            throw .unusable(path, "\(name) cannot be read")
        }
    }

    /// Length and FNV-1a hash (64 bit): enough to notice an interrupted import, which is all it is for.
    private static func check(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\(bytes.count)-\(String(hash, radix: 16))"
    }
}
