// Hearing which files of a directory change.

import CLinux

/// Hears of files written or moved into a directory. Corresponds to inotify(7).
package final class DirectoryWatch {
    /// Readable when something happened.
    package let descriptor: Descriptor

    package init(_ path: String) throws(SystemCallError) {
        descriptor = Descriptor(owning: try check(cl_watch_directory(path), "watching", path))
    }

    /// Takes what happened off the queue.
    package func drain() {
        while case .bytes = try? readSome(descriptor.number, limit: 4096) {}
    }

    /// The names of the files that were replaced since the last call; takes them off the queue. See inotify(7).
    package func changes() -> Set<String> {
        var names: Set<String> = []
        while case .bytes(let bytes) = try? readSome(descriptor.number) {
            // struct inotify_event: wd, mask, cookie, len (32 bit each), then len bytes of name, padded with zeroes.
            var start = 0
            while start + 16 <= bytes.count {
                let length = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self) }
                let end = min(bytes.count, start + 16 + Int(length))
                names.insert(String(decoding: bytes[(start + 16)..<end].prefix { $0 != 0 }, as: UTF8.self))
                start = end
            }
        }
        return names
    }
}
