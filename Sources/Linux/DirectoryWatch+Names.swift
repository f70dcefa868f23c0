// Which files of a watched directory changed.

extension DirectoryWatch {
    /// The names of the files that were replaced since the last call; takes them off the queue. See inotify(7).
    package borrowing func changes() -> Set<String> {
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
