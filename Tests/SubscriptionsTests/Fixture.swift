// Finding the test's input files, and naming the engines they are meant for.

import ImportReport
import JSON
import Testing

@testable import Subscriptions

#if canImport(FoundationEssentials)
    import FoundationEssentials
#endif

/// The files beside this one.
enum Fixture {
    static let root: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast().joined(separator: "/") + "/Fixtures"
    }()

    static func bytes(_ path: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: root + "/" + path)))
    }

    static func json(_ path: String) throws -> JSON { try JSON.parse(bytes(path)) }

    static func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: root + "/" + folder)) ?? []).sorted()
    }

    /// The engine we ship: everything but uTLS and naive.
    static let plain = EngineCapabilities(tags: ["with_quic", "with_wireguard", "with_gvisor", "with_clash_api"])
    /// An engine that has both.
    static let rich = EngineCapabilities(tags: plain.tags.union(["with_utls", "with_naive_outbound"]))
}

extension Subscription {
    /// The lists of `mapping.md` 0 as one value, for comparing whole results.
    var lists: JSON {
        [
            "outbounds": .array(outbounds), "endpoints": .array(endpoints), "info": .strings(info),
            "lines": .array(
                lines.map {
                    [
                        "name": .string($0.name), "tag": .string($0.tag), "type": .string($0.type),
                        "multiplier": $0.multiplier.map(JSON.double) ?? .null,
                    ]
                }),
            "dropped": .array(
                dropped.map { line in
                    var out: JSON = [
                        "name": .string(line.name), "type": .string(line.type ?? ""),
                        "reason": .string(line.reason.rawValue),
                    ]
                    if let field = line.field { out["field"] = .string(field) }
                    return out
                }),
            "notices": .array(
                notices.map { notice in
                    var out: JSON = ["name": .optional(notice.name), "code": .string(notice.code.rawValue)]
                    if let field = notice.field { out["field"] = .string(field) }
                    return out
                }),
        ]
    }
}
