// The engine's output, kept in a file that is moved aside once full. Nobody here reads it.

internal import Linux

/// Takes what the engine writes to a pipe and keeps the latest of it.
final class EngineLog {
    /// The file's name; the older half has `.1` behind it.
    static let name = "engine.log"
    /// Bytes before the file is moved aside.
    private static let limit = 4 << 20

    private let directory: String
    /// Whose engine writes: what it writes names every host that was visited.
    private var owner: UInt32?
    private var file: OwnedDescriptor?
    private var size = 0
    /// Line feeds since the last start.
    private(set) var lines = 0

    init(directory: String) { self.directory = directory }

    /// A new engine writes from here on. What an engine of another user wrote is forgotten, though it was before this process
    /// or this boot: every file begins with a line that names the user.
    func begin(for owner: UInt32) {
        lines = 0
        if owner != self.owner, let folder = try? Directory(directory) {
            self.owner = owner
            file = nil
            for name in [Self.name, Self.name + ".1"] where !isOwn(name) { _ = try? folder.remove(name) }
        }
        if file == nil { open() }
    }

    private var heading: String { "engine of user \(owner ?? 0)\n" }

    private func isOwn(_ name: String) -> Bool {
        (try? KernelFile.beginning(of: "\(directory)/\(name)", bytes: heading.utf8.count)) == heading
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
        if size == 0, (try? writeAll(opened.number, Array(heading.utf8))) != nil { size = heading.utf8.count }
        file = OwnedDescriptor(opened)
    }
}

/// An owned descriptor behind a reference, for a place that is sometimes empty.
final class OwnedDescriptor {
    private let descriptor: Descriptor
    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    var number: Int32 { descriptor.number }
}
