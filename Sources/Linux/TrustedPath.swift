// Files that others than root must not be able to change or to choose.

/// A file that root acts on, or that runs as a user whom the guard lets out: root's alone.
package enum TrustedPath {
    /// Checks a file and every directory above it: root's, and not writable by others unless sticky. Where the file or
    /// directories above it are missing, those that are there: whoever makes the rest decides what it is.
    /// - Returns: the file's path without links, which others than root cannot make lead elsewhere; nil when it is missing.
    /// - Throws: `UntrustedFile`, or `SystemCallError` when it cannot be looked at.
    @discardableResult
    package static func check(_ path: String) throws -> String? {
        var (there, isWhole) = (path, true)
        while !Surroundings.exists(there), let slash = there.lastIndex(of: "/") {
            there = slash == there.startIndex ? "/" : String(there[..<slash])
            isWhole = false
        }
        let file = try Directory.openPlace(there)
        guard let real = Surroundings.link("/proc/self/fd/\(file.number)") else {
            throw UntrustedFile(path: path, problem: "cannot be followed; /proc must be mounted")
        }
        var at = ""
        for part in [""] + real.split(separator: "/").map(String.init) {
            at = part.isEmpty ? "/" : (at == "/" ? "/" : at + "/") + part
            let place = try Directory.openPlace(at)
            let status = try FileStatus(of: place.number, subject: at)
            let isSticky = status.isDirectory && status.mode & 0o1000 != 0
            guard status.owner == 0, status.mode & 0o022 == 0 || isSticky else {
                throw UntrustedFile(
                    path: at,
                    problem: "can be changed by others than root, so \(path) is not used; give it to root (chown root, "
                        + "chmod go-w)")
            }
        }
        return isWhole ? real : nil
    }
}
