// Emptying a directory whatever another program has put there.

import CLinux
import Glibc

/// A name in a directory as the kernel has it: bytes that need be no text, with their zero.
private typealias FileName = [CChar]

extension Directory {
    /// Deletes everything in this directory but the files named. Of directories only one is open at a time, so that a deep
    /// tree costs no more than a wide one; those that were closed to their owner are opened.
    /// - Throws: `SystemCallError` for the first thing that cannot be deleted.
    package borrowing func clear(keeping kept: Set<String> = []) throws(SystemCallError) {
        // Nobody can have put anything in the way of a name that nobody knew.
        var salt: UInt64 = 0
        try check(cl_random(&salt, MemoryLayout<UInt64>.size), "reading random bytes")
        let kept = Set(kept.map { FileName($0.utf8CString) })
        // A name that is listed and not there was taken away by somebody else meanwhile. Nobody does that all the time.
        var misses = 0
        while true {
            var (found, taken) = (false, false)
            try forEachName { name throws(SystemCallError) in
                guard !kept.contains(name) else { return }
                found = true
                do throws(SystemCallError) {
                    try take(name, &salt)
                    taken = true
                } catch { if error.errno != .noSuchFile || misses == Self.patience { throw error } }
            }
            guard found else { return }
            misses = taken ? 0 : misses + 1
        }
    }

    /// Times in a row that nothing which is listed need be there.
    private static var patience: Int { 8 }

    /// Deletes what has a name. Directories in a directory come up to this one and have their turn.
    private borrowing func take(_ name: FileName, _ salt: inout UInt64) throws(SystemCallError) {
        guard try !removedFile(name) else { return }
        let inner = try opened(name)
        try inner.forEachName { content throws(SystemCallError) in
            guard try !inner.removedFile(content) else { return }
            salt &+= 1
            let (from, to) = (inner.descriptor.number, descriptor.number)
            _ = fchmodat(from, content, 0o700, 0)
            try checkErrno("moving", inner.place(content)) {
                renameat(from, content, to, ".\(String(salt, radix: 36))")
            }
        }
        let number = descriptor.number
        try checkErrno("deleting", place(name)) { unlinkat(number, name, AT_REMOVEDIR) }
    }

    /// Deletes a file, a link or whatever else is no directory; false for a directory.
    private borrowing func removedFile(_ name: FileName) throws(SystemCallError) -> Bool {
        let number = descriptor.number
        do throws(SystemCallError) { try checkErrno("deleting", place(name)) { unlinkat(number, name, 0) } } catch {
            guard error.errno == .isDirectory else { throw error }
            return false
        }
        return true
    }

    private borrowing func opened(_ name: FileName) throws(SystemCallError) -> Directory {
        let number = descriptor.number
        _ = fchmodat(number, name, 0o700, 0)
        let inner = try checkErrno("opening", place(name)) {
            openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        return Directory(descriptor: Descriptor(owning: inner), path: place(name))
    }

    private borrowing func place(_ name: FileName) -> String { "\(path)/\(text(name))" }

    private borrowing func text(_ name: FileName) -> String {
        String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The names in this directory, without `.` and `..`, sorted. One that is no text is not given as it is.
    package borrowing func names() throws(SystemCallError) -> [String] {
        var names: [String] = []
        try forEachName { name in names.append(text(name)) }
        return names.sorted()
    }

    /// Hands on one name after the other, without `.` and `..`, in no order; they may be deleted meanwhile (readdir(3)).
    private borrowing func forEachName(
        _ body: (FileName) throws(SystemCallError) -> Void
    ) throws(SystemCallError) {
        let copy = try open(".", flags: O_RDONLY | O_DIRECTORY).release()
        guard let stream = fdopendir(copy) else {
            let failure = Errno(rawValue: errno)
            _ = Glibc.close(copy)
            throw SystemCallError("listing", path, failure)
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
                raw.prefix { $0 != 0 }.map(CChar.init(bitPattern:)) + [0]
            }
            if text(name) != ".", text(name) != ".." { try body(name) }
        }
    }
}
