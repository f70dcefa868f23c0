// Which dialect a text is written in (`mapping.md` 1).

internal import ImportReport
internal import JSON
import Notation
internal import YAML

/// Telling dialects apart.
enum Recognition {
    /// What a text turned out to be.
    enum Found {
        case singBox(JSON)
        case source(SourceDocument)
    }

    /// Recognises a text and reads it as far as its entries.
    /// - Parameter bodies: what fetched providers answered, by name.
    static func read(_ bytes: [UInt8], bodies: [String: [UInt8]] = [:]) throws(SubscriptionError) -> Found {
        let text = YAMLText.cleaned(bytes)
        guard let first = text.first(where: { !$0.isSpace }) else {
            throw SubscriptionError(.empty, "The answer is empty.")
        }
        if first == UInt8(ascii: "<") { throw page(text) }
        if first == UInt8(ascii: "{"), let found = try object(text, bodies) { return found }
        if let decoded = unwrapped(text) {
            let inner = YAMLText.cleaned(decoded)
            guard let first = inner.first(where: { !$0.isSpace }) else {
                throw SubscriptionError(.empty, "The answer is empty once its base64 is decoded.")
            }
            if first == UInt8(ascii: "{"), let found = try object(inner, bodies) { return found }
            return .source(try listed(inner, bodies))
        }
        return .source(try listed(text, bodies))
    }

    /// The entries of a provider's body, which is a list of nodes in any dialect but the engine's own.
    static func nodes(of bytes: [UInt8]) throws(SubscriptionError) -> [Entry] {
        guard bytes.count <= SubscriptionReader.maximumBytes else {
            throw SubscriptionError(.tooLarge, "A provider's list is too large.")
        }
        guard case .source(let document) = try read(bytes) else {
            throw SubscriptionError(.notASubscription, "A provider's list is a configuration of the engine.")
        }
        return document.entries
    }

    // MARK: JSON

    private static let maximumValues = 4_000_000

    /// A text in braces: JSON of some kind, or else YAML in flow style (nil).
    private static func object(_ text: [UInt8], _ bodies: [String: [UInt8]]) throws(SubscriptionError) -> Found? {
        // Each value costs many times its text, so their number is bounded before they are made.
        guard text.lazy.filter({ $0 == UInt8(ascii: ",") }).prefix(maximumValues + 1).count <= maximumValues else {
            throw SubscriptionError(.tooLarge, "The answer holds more than \(maximumValues) JSON values.")
        }
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(text, dialect: .lenient)
        } catch {
            if (try? ClashRepair.parse(text))?.mapping.map({ ClashDocument.recognises(Fields($0)) }) == true {
                return nil
            }
            throw SubscriptionError(.badJSON, "The answer begins like JSON, but \(error.problem).", line: error.line)
        }
        if let servers = json["servers"].array, json["outbounds"].isNull {
            var document = SourceDocument(format: .sip008)
            guard servers.count <= ClashDocument.maximumNodes else {
                throw SubscriptionError(.tooLarge, "The list holds more than \(ClashDocument.maximumNodes) servers.")
            }
            document.entries = SIP008.entries(servers)
            return .source(document)
        }
        if json["outbounds"].array != nil || json["endpoints"].array != nil { return .singBox(json) }
        let keys = (json.object?.keys ?? []).map(Fields.normal)
        if keys.contains(where: { ["proxies", "proxy", "proxy-providers"].contains($0) }) { return nil }
        throw refusal(json)
    }

    /// A JSON object that is no subscription: what the provider says in it is for the user to read.
    private static func refusal(_ json: JSON) -> SubscriptionError {
        let keys = ["message", "msg", "error", "errmsg", "error_description", "detail", "reason"]
        var texts: [String] = []
        for key in keys {
            let value = json[key].string ?? json[key]["message"].string
            if let value { texts.append(Names.cleaned(value)) }
        }
        texts.removeAll(where: \.isEmpty)
        // A panel's API wraps every answer in `data`: the link leads to the API and to no subscription. Without it the
        // object is the provider's own refusal.
        let isEnvelope = json.object?.keys.contains("data") ?? false
        guard let first = texts.first, !isEnvelope else {
            let said = texts.first.map { " It says: \($0)" } ?? ""
            return SubscriptionError(.notASubscription, "The answer is JSON, but no subscription.\(said)", texts: texts)
        }
        return SubscriptionError(.providerError, "The provider answered with an error: \(first)", texts: texts)
    }

    /// An HTML or XML page. Nothing is looked for in it but its title.
    private static func page(_ text: [UInt8]) -> SubscriptionError {
        let head = text.prefix(16_384)
        let lower = head.map(\.lowercase)
        var title = ""
        if let start = lower.firstRange(of: "<title")?.upperBound,
            let open = lower[start...].firstIndex(of: UInt8(ascii: ">")),
            let end = lower[open...].firstRange(of: "</title")?.lowerBound
        {
            title = Names.short(String(decoding: head[(open + 1)..<end], as: UTF8.self))
        }
        let isHTML = lower.firstRange(of: "<html") != nil || lower.firstRange(of: "<!doctype html") != nil
        let what = isHTML ? "a web page" : "XML or HTML"
        return SubscriptionError(
            .notASubscription, title.isEmpty ? "The answer is \(what)." : "The answer is \(what) titled “\(title)”.",
            texts: title.isEmpty ? [] : [title])
    }

    // MARK: Base64

    /// The text inside base64; nil when this is not base64.
    private static func unwrapped(_ text: [UInt8]) -> [UInt8]? {
        // Anything else shows itself within its first line.
        guard text.prefix(256).allSatisfy({ $0.isBase64 || $0.isSpace || $0 == UInt8(ascii: "%") }) else { return nil }
        var bytes = text
        if bytes.contains(UInt8(ascii: "%")) {
            bytes = Array(String(decoding: bytes, as: UTF8.self).percentDecoded.utf8)
        }
        guard let decoded = Base64.decode(bytes), !decoded.isEmpty else { return nil }
        // Names in another encoding than UTF-8 must not cost the links.
        let isText = String(validating: decoded, as: UTF8.self) != nil || decoded.firstRange(of: "://") != nil
        return isText ? decoded : nil
    }

    // MARK: YAML and links

    private static func listed(_ text: [UInt8], _ bodies: [String: [UInt8]]) throws(SubscriptionError) -> SourceDocument
    {
        let signs = Signs(text)
        if signs.hasLinks, !signs.hasNodes { return try links(text) }
        let node: Node
        do throws(YAMLError) {
            node = try ClashRepair.parse(text)
        } catch {
            if signs.hasLinks { return try links(text) }
            guard signs.hasNodes || signs.looksLikeYAML || error.kind == .limit else { throw unknown() }
            let code: SubscriptionError.Code = error.kind == .limit ? .tooLarge : .badYAML
            throw SubscriptionError(
                code, "The profile is not YAML that can be read: \(error.problem).", line: error.line)
        }
        switch node {
        case .mapping(let mapping):
            let root = Fields(mapping)
            if ClashDocument.recognises(root) { return try ClashDocument.read(root, bodies: bodies) }
        case .sequence(let items) where items.contains(where: { $0.mapping != nil }):
            var document = SourceDocument(format: .clash)
            document.entries = try ClashDocument.entries(items)
            return document
        default: break
        }
        if signs.hasLinks { return try links(text) }
        throw unknown()
    }

    private static func links(_ text: [UInt8]) throws(SubscriptionError) -> SourceDocument {
        var document = SourceDocument(format: .links)
        document.entries = try ShareLinks.entries(String(decoding: text, as: UTF8.self))
        return document
    }

    private static func unknown() -> SubscriptionError {
        SubscriptionError(
            .notASubscription, "The answer is neither a sing-box configuration nor a Clash profile nor a list of links."
        )
    }

    /// What a quick look at the lines tells.
    private struct Signs {
        /// A line starts with `scheme://`.
        var hasLinks = false
        /// A line is a key under which nodes stand.
        var hasNodes = false
        /// A line ends with a colon or has `: ` in it.
        var looksLikeYAML = false

        private static let keys = ["proxies", "proxy", "proxy-providers"]

        init(_ text: [UInt8]) {
            var rest = text[...]
            while !rest.isEmpty {
                let line = rest.prefix { $0 != 0x0A }
                rest = rest[line.endIndex...].dropFirst()
                guard let start = line.firstIndex(where: { !$0.isSpace }) else { continue }
                let body = line[start...]
                guard let colon = body.prefix(40).firstIndex(of: UInt8(ascii: ":")) else { continue }
                let after = colon + 1
                if after >= body.endIndex || body[after].isSpace {
                    looksLikeYAML = true
                    let key = String(decoding: body[..<colon], as: UTF8.self).filter { $0 != "\"" && $0 != "'" }
                    if Self.keys.contains(Fields.normal(key.trimmed)) { hasNodes = true }
                } else if !hasLinks, ShareLinks.isLink(String(decoding: body.prefix(64), as: UTF8.self)) {
                    hasLinks = true
                }
                if hasNodes { return }
            }
        }
    }
}

extension Collection where Element == UInt8 {
    /// Where a lower-case ASCII word first occurs.
    func firstRange(of word: StaticString) -> Range<Index>? {
        let count = word.utf8CodeUnitCount
        return word.withUTF8Buffer { buffer -> Range<Index>? in
            guard let first = buffer.first else { return nil }
            var at = startIndex
            while at < endIndex {
                if self[at] == first {
                    let rest = self[at...].prefix(count)
                    if rest.elementsEqual(buffer) { return at..<rest.endIndex }
                }
                at = index(after: at)
            }
            return nil
        }
    }
}
