// Small files the kernel makes up: parameters below /proc/sys and facts below /proc.

import Glibc

/// Files below `/proc`. Their paths come from this program's own source, never from input.
package enum KernelFile {
    /// The text of a file without its final line feed; nil when there is no such file.
    package static func read(_ path: String, limit: Int = 65_536) throws(SystemCallError) -> String? {
        let file: Descriptor
        do throws(SystemCallError) { file = try open(path, O_RDONLY) } catch {
            if [.noSuchFile, .notADirectory, .noSuchProcess].contains(error.errno) { return nil }
            throw error
        }
        var bytes = try readAll(file.number, limit: limit, subject: path)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text a file begins with, so many bytes of it; what is behind them is left unread.
    package static func beginning(of path: String, bytes count: Int) throws(SystemCallError) -> String {
        let file = try open(path, O_RDONLY)
        var text: [UInt8] = []
        while text.count < count, case .bytes(let bytes) = try readSome(file.number, limit: count - text.count) {
            text += bytes
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The first line for which something holds, without its line feed; what is behind it is left unread.
    package static func firstLine(
        of path: String, where holds: (String) -> Bool
    ) throws(SystemCallError) -> String? {
        let file = try open(path, O_RDONLY)
        var rest: [UInt8] = []
        while case .bytes(let bytes) = try readSome(file.number, limit: 65_536) {
            var lines = (rest + bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Array(lines.removeLast())
            for line in lines {
                let text = String(decoding: line, as: UTF8.self)
                if holds(text) { return text }
            }
        }
        let text = String(decoding: rest, as: UTF8.self)
        return !rest.isEmpty && holds(text) ? text : nil
    }

    /// Writes a value to a file that is there.
    package static func write(_ path: String, _ value: String) throws(SystemCallError) {
        let file = try open(path, O_WRONLY)
        try writeAll(file.number, Array(value.utf8), subject: path)
    }

    private static func open(_ path: String, _ mode: Int32) throws(SystemCallError) -> Descriptor {
        Descriptor(owning: try checkErrno("opening", path) { Glibc.open(path, mode | O_CLOEXEC) })
    }
}
