// Reading and replacing files in directories that others can write to: no links followed, owner and size checked,
// replaced whole or not at all.

import CLinux
import Glibc

/// What a file's inode says, of what the checks here need. Corresponds to fstat(2).
package struct FileStatus: Hashable, Sendable {
    /// A plain file.
    package let isRegular: Bool
    /// A directory.
    package let isDirectory: Bool
    /// The permission bits.
    package let mode: UInt32
    /// The uid it belongs to.
    package let owner: UInt32
    /// The gid it belongs to.
    package let group: UInt32
    /// Bytes.
    package let size: Int64
    /// Seconds since 1970.
    package let modified: Int64
    /// The device it is on (stat(2)).
    package let device: UInt64
    /// Its number there.
    package let inode: UInt64

    /// The status of an open descriptor.
    package init(of descriptor: Int32, subject: String) throws(SystemCallError) {
        var raw = cl_status()
        try check(cl_status(descriptor, &raw), "looking at", subject)
        isRegular = raw.mode & 0o170000 == 0o100000
        isDirectory = raw.mode & 0o170000 == 0o040000
        mode = raw.mode & 0o7777
        owner = raw.uid
        group = raw.gid
        size = raw.size
        modified = raw.modified_seconds
        device = raw.device
        inode = raw.inode
    }
}

/// A file that is not what it should be: foreign owner, a link, too large. Never overwritten silently.
package struct UntrustedFile: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, for messages.
    package let path: String
    /// What is wrong with it.
    package let problem: String

    package var description: String { "\(path): \(problem)" }
}

/// A directory opened once, in which files are opened without following links out of it (openat2(2) RESOLVE_BENEATH and
/// RESOLVE_NO_SYMLINKS).
package struct Directory: ~Copyable {
    /// The open directory.
    package let descriptor: Descriptor
    /// For messages.
    package let path: String

    /// Opens a directory; the last path component must not be a link.
    package init(_ path: String) throws(SystemCallError) {
        let number = try checkErrno("opening", path) {
            Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        self.descriptor = Descriptor(owning: number)
        self.path = path
    }

    /// Makes the directory when it is not there yet, then opens it; its parent must exist.
    package init(making path: String, mode: UInt32) throws(SystemCallError) {
        if mkdir(path, mode) < 0, errno != EEXIST {
            throw SystemCallError("making directory", path, Errno(rawValue: errno))
        }
        try self.init(path)
    }

    /// Opens a place for looking at only, whatever it is. Corresponds to open(2) with O_PATH.
    package static func openPlace(_ path: String) throws(SystemCallError) -> Descriptor {
        Descriptor(
            owning: try checkErrno("opening", path) { Glibc.open(path, Int32(CL_O_PATH) | O_CLOEXEC) })
    }

    /// Makes a directory and those above it where they are not there yet, then opens it. For paths root has named.
    package init(makingAll path: String, mode: UInt32) throws(SystemCallError) {
        var at = ""
        for part in path.split(separator: "/") {
            at += "/" + part
            // chmod, for the process's file mask takes from what mkdir is given.
            if mkdir(at, mode) == 0 { _ = chmod(at, mode) }
        }
        try self.init(path)
    }

    /// Gives this directory to a user and group with this mode. Corresponds to fchown(2) and fchmod(2).
    package borrowing func give(to user: UInt32, group: UInt32, mode: UInt32) throws(SystemCallError) {
        try check(cl_change_owner(descriptor.number, user, group), "giving away", path)
        // After the owner, for changing that clears the set-group-id bit.
        try setMode(mode)
    }

    /// Opens a file beneath this directory.
    package borrowing func open(
        _ name: String, flags: Int32 = O_RDONLY, mode: UInt32 = 0o600
    ) throws(SystemCallError) -> Descriptor {
        let found = cl_openat2(
            descriptor.number, name, flags | O_NOFOLLOW, mode, UInt64(CL_RESOLVE_BENEATH | CL_RESOLVE_NO_SYMLINKS))
        return Descriptor(owning: try check(found, "opening", "\(path)/\(name)"))
    }

    /// Opens a file beneath this directory to write at its end; makes it when it is not there.
    package borrowing func openForAppending(_ name: String, mode: UInt32) throws(SystemCallError) -> Descriptor {
        try open(name, flags: O_WRONLY | O_CREAT | O_APPEND, mode: mode)
    }

    /// Opens what a link of /proc stands for, such as `ns/net`. Only for directories of /proc.
    package borrowing func openMagicLink(_ name: String) throws(SystemCallError) -> Descriptor {
        let number = descriptor.number
        return Descriptor(
            owning: try checkErrno("opening", "\(path)/\(name)") { openat(number, name, O_RDONLY | O_CLOEXEC) })
    }

    /// Renames a file within this directory, replacing what has that name.
    package borrowing func rename(_ name: String, to other: String) throws(SystemCallError) {
        let number = descriptor.number
        try checkErrno("renaming", "\(path)/\(name)") { renameat(number, name, number, other) }
    }

    /// Reads a regular file of the expected owner; nil when there is none.
    /// - Parameters:
    ///   - owner: the uid that must own it; nil accepts any.
    ///   - limit: bytes; a larger file is refused.
    /// - Throws: `SystemCallError` or `UntrustedFile`.
    package borrowing func read(_ name: String, owner: UInt32?, limit: Int) throws -> [UInt8]? {
        let file: Descriptor
        do { file = try open(name, flags: O_RDONLY | O_NONBLOCK) } catch let error {
            if error.errno == .noSuchFile { return nil }
            if error.errno == .symbolicLink {
                throw UntrustedFile(path: "\(path)/\(name)", problem: "is a symbolic link")
            }
            throw error
        }
        let status = try FileStatus(of: file.number, subject: "\(path)/\(name)")
        guard status.isRegular else { throw UntrustedFile(path: "\(path)/\(name)", problem: "is not a regular file") }
        if let owner, status.owner != owner {
            throw UntrustedFile(
                path: "\(path)/\(name)", problem: "belongs to user \(status.owner), not to user \(owner)")
        }
        guard status.size <= Int64(limit) else {
            throw UntrustedFile(path: "\(path)/\(name)", problem: "is larger than \(limit) bytes")
        }
        return try readAll(file.number, limit: limit, subject: "\(path)/\(name)")
    }

    /// Replaces a file whole: temporary file, fsync, rename, fsync of the directory. Readers see the old or the new.
    package borrowing func replace(_ name: String, with bytes: [UInt8], mode: UInt32) throws(SystemCallError) {
        var salt: UInt64 = 0
        try check(cl_random(&salt, MemoryLayout<UInt64>.size), "reading random bytes")
        let temporary = ".\(name).\(String(salt, radix: 36))"
        let number = descriptor.number
        do throws(SystemCallError) {
            let file = try open(temporary, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            try writeAll(file.number, bytes, subject: "\(path)/\(name)")
            try checkErrno("setting the mode of", "\(path)/\(name)") { fchmod(file.number, mode) }
            try checkErrno("flushing", "\(path)/\(name)") { fsync(file.number) }
            try checkErrno("replacing", "\(path)/\(name)") { renameat(number, temporary, number, name) }
        } catch {
            unlinkat(number, temporary, 0)
            throw error
        }
        try checkErrno("flushing", path) { fsync(number) }
    }

    /// Deletes a file; false when there was none.
    @discardableResult
    package borrowing func remove(_ name: String) throws(SystemCallError) -> Bool {
        let number = descriptor.number
        do throws(SystemCallError) { try checkErrno("deleting", "\(path)/\(name)") { unlinkat(number, name, 0) } } catch
        {
            if error.errno == .noSuchFile { return false }
            throw error
        }
        return true
    }

    /// Makes a directory beneath this one when it is not there yet, and opens it.
    package borrowing func subdirectory(_ name: String, mode: UInt32) throws(SystemCallError) -> Directory {
        let number = descriptor.number
        if mkdirat(number, name, mode) < 0, errno != EEXIST {
            throw SystemCallError("making directory", "\(path)/\(name)", Errno(rawValue: errno))
        }
        let inner = try open(name, flags: O_RDONLY | O_DIRECTORY)
        return Directory(descriptor: inner, path: "\(path)/\(name)")
    }

    /// The absolute path without links, as the kernel knows it; `path` where the kernel does not tell.
    package borrowing func resolvedPath() -> String {
        Surroundings.link("/proc/self/fd/\(descriptor.number)") ?? path
    }

    /// The status of this directory.
    package borrowing func status() throws(SystemCallError) -> FileStatus {
        try FileStatus(of: descriptor.number, subject: path)
    }

    /// Sets the permission bits of this directory, whatever the process's file mask took away at its making.
    package borrowing func setMode(_ mode: UInt32) throws(SystemCallError) {
        let number = descriptor.number
        try checkErrno("setting the mode of", path) { fchmod(number, mode) }
    }

    /// True when this process may make and replace files here. Corresponds to faccessat(2), W_OK and X_OK.
    package borrowing func isWritable() -> Bool { faccessat(descriptor.number, ".", W_OK | X_OK, AT_EACCESS) == 0 }

    /// True when something of this name is here. Corresponds to faccessat(2).
    package borrowing func holds(_ name: String) -> Bool {
        faccessat(descriptor.number, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Deletes an empty directory beneath this one; false when there was none.
    @discardableResult
    package borrowing func removeDirectory(_ name: String) throws(SystemCallError) -> Bool {
        let number = descriptor.number
        do throws(SystemCallError) {
            try checkErrno("deleting", "\(path)/\(name)") { unlinkat(number, name, AT_REMOVEDIR) }
        } catch {
            if error.errno == .noSuchFile { return false }
            throw error
        }
        return true
    }

    /// One that is open.
    init(descriptor: consuming Descriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Takes an exclusive advisory lock (flock(2)) on a file in this directory; held until the descriptor goes.
    /// - Parameter wait: whether to wait for another holder; else `wouldBlock` is thrown.
    package borrowing func lock(_ name: String = ".lock", wait: Bool = true) throws(SystemCallError) -> Descriptor {
        let file = try open(name, flags: O_RDWR | O_CREAT, mode: 0o600)
        let number = file.number
        try checkErrno("locking", "\(path)/\(name)") { flock(number, wait ? LOCK_EX : LOCK_EX | LOCK_NB) }
        return file
    }
}
