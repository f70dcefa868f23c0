// The targets that make subscriptions and profiles, and what must hold for every one of them.

import ImportReport
import Importing
import JSON
import Migrations
import Profiles
import Subscriptions

extension FuzzTarget {
    /// The engine Trocket ships, and one with everything.
    static let plain = EngineCapabilities(tags: ["with_quic", "with_wireguard", "with_gvisor", "with_clash_api"])
    static let rich = EngineCapabilities(tags: plain.tags.union(["with_utls", "with_naive_outbound", "with_dhcp"]))

    static func links(_ input: [UInt8]) throws(Violation) {
        guard let found = try? SubscriptionReader.read(input, capabilities: rich), found.format == .links else {
            return
        }
        try holds(found)
        guard input.contains(0x3A), String(validating: input, as: UTF8.self)?.contains("://") == true else { return }
        for alphabet in [Base64Text.standard, .urlSafe] {
            let packed = try? SubscriptionReader.read(alphabet.encode(input), capabilities: rich)
            try demand(packed?.outbounds == found.outbounds, "base64 changes the lines")
            try demand(packed?.lines == found.lines, "base64 changes the names")
        }
    }

    static func subscription(_ input: [UInt8]) throws(Violation) {
        for capabilities in [plain, rich] {
            guard let body = try? ReadBody(input, capabilities: capabilities, schema: { nil }) else { continue }
            try holds(body.subscription)
            let (twice, added) = body.subscription.merged(with: body.subscription)
            try demand(
                added == 0 || body.subscription.format == .singBox, "merged with itself, it gains \(added) lines")
            try holds(twice)
            try shapes(body)
        }
    }

    /// The document is migrated on its own first: a second run must find nothing.
    static func documents(_ input: [UInt8]) throws(Violation) {
        guard let source = try? JSON.parse(input, dialect: .lenient), source.object != nil else { return }
        let context = MigrationContext(capabilities: plain, schema: Schema.engine)
        var document = source
        _ = Migrations.run(&document, context)
        var again = document
        let changes = Migrations.run(&again, context)
        try demand(changes.isEmpty, "migrated twice: \(changes.map { "\($0.place): \($0.what)" })")
        try demand(again.encoded() == document.encoded(), "migrated twice, it changes without saying so")
        try rewrites(document)
        guard let body = try? ReadBody(document.encoded(), capabilities: plain, schema: { Schema.engine }) else {
            return
        }
        try holds(body.subscription)
        try shapes(body)
    }

    // MARK: What must hold

    /// Lines name objects, tags are unique, chains lead somewhere and end.
    private static func holds(_ found: Subscription) throws(Violation) {
        if found.format != .singBox { try resolves(found.outbounds + found.endpoints) }
        var identities: Set<String> = []
        let tags = Set((found.outbounds + found.endpoints).compactMap { $0["tag"].string })
        for line in found.lines {
            try demand(tags.contains(line.tag), "a line without its object")
            try demand(!line.identity.isEmpty && identities.insert(line.identity).inserted, "two lines of one identity")
            try demand(line.multiplier.map { $0.isFinite && $0 >= 0 } ?? true, "a multiplier that is no number")
            if found.format != .singBox {
                try demand(line.port.map { (1...65_535).contains($0) } ?? true, "a port of \(line.port ?? 0)")
            }
            if !line.name.isEmpty { try shown(line.name, most: 4096) }
        }
        for dropped in found.dropped where !dropped.name.isEmpty { try shown(dropped.name, most: 4096) }
        for text in found.info where !text.isEmpty { try shown(text, most: 4096) }
    }

    /// Tags are unique and every `detour` leads to an end.
    private static func resolves(_ objects: [JSON]) throws(Violation) {
        var next: [String: String?] = [:]
        for object in objects {
            guard let tag = object["tag"].string, object["type"].string != nil else {
                throw Violation("an object without tag or type")
            }
            try demand(next[tag] == nil, "two objects of one tag")
            next[tag] = .some(object["detour"].string)
        }
        for start in next.keys {
            var at: String? = start
            var steps = 0
            while let tag = at {
                guard let following = next[tag] else { throw Violation("a detour that leads nowhere") }
                at = following
                steps += 1
                try demand(steps <= next.count, "detours in a circle")
            }
        }
    }

    /// A shaped profile is whole, the same every time, and holds nothing of the tunnel's half.
    private static func shapes(_ body: ReadBody) throws(Violation) {
        guard !body.subscription.lines.isEmpty else { return }
        let sets = [
            LocalRuleSet(tag: "geosite-cn", path: "/sets/geosite-cn.srs"),
            LocalRuleSet(tag: "geoip-cn", path: "/sets/geoip-cn.srs"),
        ]
        let draft = Draft(
            body.subscription, documentTags: body.documentTags, ruleSets: sets, options: ShapingOptions())
        guard let shaped = try? draft.shape() else { return }
        let profile = shaped.profile
        try rewrites(profile)
        try demand((try? draft.shape())?.profile.encoded() == profile.encoded(), "shaped twice, it is two profiles")
        for section in ["inbounds", "experimental", "log", "ntp", "services"] {
            try demand(profile[section].isNull, "the profile has \(section)")
        }
        try ProfileReferences(profile).check(shaped)
    }
}

/// Writing base64, to wrap lists in.
enum Base64Text {
    case standard, urlSafe

    func encode(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + (self == .standard ? "+/" : "-_")).utf8)
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for place in 0...group.count { out.append(alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)]) }
            if self == .standard { out.append(contentsOf: repeatElement(0x3D, count: 3 - group.count)) }
        }
        return out
    }
}
