// A directory for one run, removed with its owner.

import Glibc

/// A new directory only this user can enter. Corresponds to mkdtemp(3); mode 0700.
package final class TemporaryDirectory: Sendable {
    /// Where it is.
    package let path: String

    /// - Parameter parent: `TMPDIR`, else /tmp.
    package init(in parent: String? = nil) throws(SystemCallError) {
        let given = parent ?? Surroundings.variable("TMPDIR") ?? ""
        var template =
            Array((given.isEmpty ? "/tmp" : given).utf8CString.dropLast()) + Array("/trocket.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemCallError("making a directory in", given.isEmpty ? "/tmp" : given, Errno(rawValue: errno))
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { remove() }

    /// Removes the directory now, with the files in it; directories inside keep it. A process whose working directory it is
    /// goes on, and nothing is left should this one be killed.
    package func remove() {
        if let directory = try? Directory(path) {
            for name in (try? directory.names()) ?? [] { _ = try? directory.remove(name) }
        }
        rmdir(path)
    }
}
