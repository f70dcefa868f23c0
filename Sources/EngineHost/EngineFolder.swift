// The engine's working directory: what an engine may leave there for the next one.

internal import EngineProcess
internal import Linux

/// The one directory an engine can write to, and of it two files of a limited size: it lies in memory. Where there is no
/// Landlock an engine gone wrong may fill it or set traps in it.
struct EngineFolder {
    /// The engine's memory of selection and mode.
    static let cache = "cache.db"
    /// The file the engine writes its sandbox's holder to.
    static let pidFile = "holder.pid"
    /// How such a memory begins: the page header of bbolt, then its magic number, little-endian, and version 2; what follows
    /// is secured by a sum.
    private static let magic: [UInt8] = [0xED, 0xDA, 0x0C, 0xED, 2, 0, 0, 0]
    private static let (header, secured) = (16, 56)

    private let path: String

    init(_ configuration: EngineHostConfiguration) { path = configuration.engineDirectory }

    /// Removes everything but a memory that looks like one: the engine ends over any other file of that name.
    /// - Throws: `SystemCallError` for what cannot be removed.
    func tidy() throws(SystemCallError) {
        let folder = try Directory(path)
        try folder.clear(keeping: Self.isUsable(folder) ? [Self.cache] : [])
    }

    /// Makes the directory ready for an engine, which can make no file itself.
    /// - Throws: `SystemCallError` for what cannot be removed or made.
    func prepare() throws(SystemCallError) {
        try tidy()
        let folder = try Directory(path)
        for name in [Self.cache, Self.pidFile] { try folder.openForAppending(name, mode: 0o600).close() }
    }

    /// Whether the engine would take it: it could not make itself another one.
    private static func isUsable(_ folder: borrowing Directory) -> Bool {
        let limit = Int(EngineLaunch.fileSize)
        guard let bytes = try? folder.read(cache, owner: nil, limit: limit) else { return false }
        let meta = bytes.dropFirst(header).prefix(secured)
        let sum = bytes.dropFirst(header + secured).prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return meta.starts(with: magic) && fnv1a(meta) == sum
    }
}

/// The hash FNV-1a of 64 bits, which bbolt takes as well.
func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
}
