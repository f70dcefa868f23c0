// Why a line failed, read from what the engine logs when a real connection through it fails.

/// Reads causes out of the engine's log. The delay test of the control API says "timeout" or "error" and logs nothing, so a
/// line that failed is asked once more through an inbound, where the engine does log why:
/// `connection: open connection to www.gstatic.com:443 using outbound/trojan[NAME]: dial tcp …: connect: connection refused`.
package enum DelayDiagnosis {
    /// The line a log line is about and the reason given; nil when it is no such line.
    /// - Parameter tags: the lines that are being asked.
    package static func cause(in logLine: String, among tags: Set<String>) -> (tag: String, reason: String)? {
        guard let using = logLine.range(after: " using "), let open = logLine[using...].firstIndex(of: "[")
        else {
            return nil
        }
        let rest = logLine[logLine.index(after: open)...]
        // A name may hold brackets and colons; the longest known one that fits is meant.
        var best: (tag: String, reason: String)?
        var search = rest.startIndex
        while let close = rest[search...].firstIndex(of: "]") {
            let tag = String(rest[..<close])
            let tail = rest[rest.index(after: close)...]
            if tail.hasPrefix(": "), tags.contains(tag) { best = (tag, String(tail.dropFirst(2))) }
            search = rest.index(after: close)
        }
        return best
    }

    /// The class of a reason in the words of Go and of the engine.
    package static func error(for reason: String) -> DelayError {
        let reason = reason.lowercased()
        func has(_ words: String...) -> Bool { words.contains { reason.contains($0) } }
        // Before all else: a resolver that refuses is no server that refuses.
        if has("no such host", "lookup ", "nxdomain", "servfail", "dns:", "exchange4", "exchange6", "rcode", "resolve")
        {
            return .dns
        }
        if has("connection refused") { return .refused }
        if has("x509", "tls:", "tls handshake", "certificate", "crypto_error", "reality", "utls") { return .tls }
        if has("i/o timeout", "deadline exceeded", "timed out", "no recent network activity") { return .timeout }
        if has("no route to host", "network is unreachable", "host is down", "host is unreachable") {
            return .unreachable
        }
        return .proxy
    }
}

extension String {
    /// The place just after the first occurrence of a text.
    func range(after text: String) -> Index? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
