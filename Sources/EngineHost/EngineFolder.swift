// The engine's working directory: what an engine may leave there for the next one.

internal import EngineProcess
internal import Linux

/// The one directory an engine can write to. It lies in memory, and an engine gone wrong may fill it or set traps in it.
struct EngineFolder {
    /// The engine's memory of selection and mode.
    static let cache = "cache.db"
    /// How such a file begins: the page header of bbolt, then its magic number, little-endian.
    private static let magic: (offset: Int, bytes: [UInt8]) = (16, [0xED, 0xDA, 0x0C, 0xED])

    private let path: String

    init(_ configuration: EngineHostConfiguration) { path = configuration.engineDirectory }

    /// Removes everything but a memory that looks like one: the engine ends over any other file of that name.
    /// - Throws: `SystemCallError` for what cannot be removed.
    func tidy() throws(SystemCallError) {
        let folder = try Directory(path)
        try folder.clear(keeping: Self.isUsable(folder) ? [Self.cache] : [])
    }

    private static func isUsable(_ folder: borrowing Directory) -> Bool {
        let limit = Int(EngineLaunch.fileSize)
        guard let bytes = try? folder.read(cache, owner: nil, limit: limit) else { return false }
        return bytes.dropFirst(magic.offset).prefix(magic.bytes.count).elementsEqual(magic.bytes)
    }
}
