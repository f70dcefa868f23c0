// The target of what comes beside a body: header lines, addresses, unannounced compression.

import Importing
import Notation
import Store
import Transfer

extension FuzzTarget {
    /// Header lines `Name: value`, as an HTTP client has cut them.
    static func headers(_ input: [UInt8]) throws(Violation) {
        let text = String(decoding: input, as: UTF8.self)
        var headers: [(name: String, value: String)] = []
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append((line[..<colon].lowercased(), String(value)))
            try address(String(value))
        }
        let answer = HTTPResponse(status: 200, headers: headers, body: [])
        let details = ProviderDetails(header: { answer.header($0) })
        if let quota = details.quota {
            for figure in [quota.upload, quota.download, quota.total, quota.expire] {
                try demand(figure.map { $0 >= 0 } ?? true, "a quota below zero")
            }
            try demand(quota.total != 0, "a quota of nothing")
            try demand((quota.expire ?? 0) <= 253_402_300_800, "an account that outlives the calendar")
        }
        if let title = details.title { try shown(title, most: 80) }
        if let hours = details.intervalHours { try demand((1...8760).contains(hours), "an interval of \(hours) h") }
        try demand(details.completed(by: ProviderDetails()) == details, "completed by nothing, it changes")
        switch Inflate.inflate(input, limit: 1 << 16) {
        case .inflated(let bytes): try demand(bytes.count <= 1 << 16, "more comes out than the limit")
        case .plain: try demand(!Inflate.looksCompressed(input), "compressed, and passed as plain")
        case .tooLarge, .damaged: break
        }
    }

    private static func address(_ text: String) throws(Violation) {
        try demand(WebAddress.encoded(text).percentDecoded == text, "encoded and decoded, a text is another")
        guard let address = WebAddress(text) else { return }
        _ = address.queryValue("url")
        try demand(!address.shown.contains("?") && address.shown.hasSuffix("/…"), "more shown of a link than its host")
        _ = try? ImportSource.resolve(text, standardInput: { [] }, file: { _ in [] })
    }

    /// Demands that a text can be put on a terminal.
    static func shown(_ text: String, most limit: Int) throws(Violation) {
        try demand(!text.isEmpty && text.count <= limit, "a name of \(text.count) characters")
        let isClean = text.unicodeScalars.allSatisfy {
            ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        try demand(isClean, "control characters for a terminal")
    }
}
