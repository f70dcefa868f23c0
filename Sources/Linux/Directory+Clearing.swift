// Emptying a directory whatever another program has put there.

import CLinux
import Glibc

extension Directory {
    /// Deletes everything in this directory but the files named. Of directories only one is open at a time, so that a deep
    /// tree costs no more than a wide one; those that were closed to their owner are opened.
    /// - Throws: `SystemCallError` for the first thing that cannot be deleted.
    package borrowing func clear(keeping kept: Set<String> = []) throws(SystemCallError) {
        // Nobody can have put anything in the way of a name that nobody knew.
        var salt: UInt64 = 0
        try check(cl_random(&salt, MemoryLayout<UInt64>.size), "reading random bytes")
        var isDone = false
        while !isDone {
            isDone = true
            for name in try names() where !kept.contains(name) {
                guard try !removedFile(name) else { continue }
                isDone = false
                let inner = try opened(name)
                for content in try inner.names() where try !inner.removedFile(content) {
                    // A directory in it comes up to this one and has its turn.
                    salt &+= 1
                    let (from, to) = (inner.descriptor.number, descriptor.number)
                    _ = fchmodat(from, content, 0o700, 0)
                    try checkErrno("moving", "\(inner.path)/\(content)") {
                        renameat(from, content, to, ".\(String(salt, radix: 36))")
                    }
                }
                try removeDirectory(name)
            }
        }
    }

    /// Deletes a file, a link or whatever else is no directory; false for a directory.
    private borrowing func removedFile(_ name: String) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) { try remove(name) } catch {
            guard error.errno == .isDirectory else { throw error }
            return false
        }
        return true
    }

    private borrowing func opened(_ name: String) throws(SystemCallError) -> Directory {
        _ = fchmodat(descriptor.number, name, 0o700, 0)
        return try subdirectory(name, mode: 0o700)
    }
}
