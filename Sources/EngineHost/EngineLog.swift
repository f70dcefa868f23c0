// The engine's output, kept in a file that is moved aside once full. Nobody here reads it.

internal import Linux

/// Takes what the engine writes to a pipe and keeps the latest of it.
final class EngineLog {
    /// The file's name; the older half has `.1` behind it.
    static let name = "engine.log"
    /// Bytes before the file is moved aside.
    private static let limit = 4 << 20

    private let directory: String
    private var file: OwnedDescriptor?
    private var size = 0
    /// Line feeds since the last start.
    private(set) var lines = 0

    init(directory: String) { self.directory = directory }

    /// A new engine writes from here on.
    /// - Parameter fresh: forget what an engine of another user wrote.
    func begin(fresh: Bool) {
        lines = 0
        if fresh, let folder = try? Directory(directory) {
            file = nil
            _ = try? folder.remove(Self.name)
            _ = try? folder.remove(Self.name + ".1")
        }
        if file == nil { open() }
    }

    /// Keeps some output. A log that cannot be written must not stop the tunnel.
    func append(_ bytes: [UInt8]) {
        for byte in bytes where byte == 0x0A { lines += 1 }
        if size + bytes.count > Self.limit { rotate() }
        guard let file, (try? writeAll(file.number, bytes)) != nil else { return }
        size += bytes.count
    }

    /// A descriptor to read the log with.
    func reader() throws -> Descriptor { try Directory(directory).open(Self.name) }

    private func rotate() {
        file = nil
        guard let folder = try? Directory(directory) else { return }
        _ = try? folder.rename(Self.name, to: Self.name + ".1")
        open()
    }

    private func open() {
        guard let folder = try? Directory(directory),
            let opened = try? folder.openForAppending(Self.name, mode: 0o600)
        else { return }
        size = Int((try? FileStatus(of: opened.number, subject: Self.name).size) ?? 0)
        file = OwnedDescriptor(opened)
    }
}

/// An owned descriptor behind a reference, for a place that is sometimes empty.
final class OwnedDescriptor {
    private let descriptor: Descriptor
    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    var number: Int32 { descriptor.number }
}
