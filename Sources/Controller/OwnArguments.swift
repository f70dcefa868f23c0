// The words this process was started with, and taking the links among them out of everybody's sight.

/// The command line of this process.
package enum OwnArguments {
    /// The words behind the program's name. When it returns, what follows `://` in them is gone from /proc/PID/cmdline,
    /// which every user may read as long as the process runs (proc(5)) and which is the memory written to here. A link is as
    /// good as a password, and fetching what it leads to may take minutes.
    package static func take() -> [String] {
        // Its copies are made at the first look.
        let words = Swift.CommandLine.arguments.dropFirst()
        let mark = "://".utf8.map { CChar($0) }
        for at in 1..<max(1, Int(Swift.CommandLine.argc)) {
            guard let word = Swift.CommandLine.unsafeArgv[at] else { break }
            var rest = UnsafeMutableBufferPointer(start: word, count: length(word))[...]
            while !rest.isEmpty, !rest.starts(with: mark) { rest.removeFirst() }
            for place in rest.indices.dropFirst(mark.count) { rest.base[place] = CChar(UInt8(ascii: "x")) }
        }
        return Array(words)
    }

    private static func length(_ word: UnsafeMutablePointer<CChar>) -> Int {
        var length = 0
        while word[length] != 0 { length += 1 }
        return length
    }
}
