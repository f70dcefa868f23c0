// Seeded random damage to the corpus: nothing traps, and a second run finds nothing to do. And linear cost.

import JSON
import Testing

@testable import Migrations

/// A small generator that gives the same sequence everywhere (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

private func damage(_ value: JSON, _ random: inout Seeded) -> JSON {
    if Int.random(in: 0..<30, using: &random) == 0 {
        let others: [JSON] = [
            nil, true, false, 0, -1, "", "direct", "any", "local", "fakeip", "rcode://x", "[", "dhcp://", [], [[]],
            [nil],
            ["direct"], ["type": "direct"], ["tag": 5], .number("1e999"), "geoip-cn", ["server": "local"],
        ]
        return others.randomElement(using: &random) ?? nil
    }
    switch value {
    case .array(let items):
        var items = items.map { damage($0, &random) }
        if Int.random(in: 0..<20, using: &random) == 0, let one = items.randomElement(using: &random) {
            items.append(one)
        }
        return .array(items)
    case .object(let object):
        var result = JSONObject()
        for member in object.members where Int.random(in: 0..<30, using: &random) != 0 {
            result[member.key] = damage(member.value, &random)
        }
        return .object(result)
    default: return value
    }
}

@Suite struct MutationTests {
    @Test func damageNeverTrapsAndSettles() throws {
        let inputs = try ["cases", "whole"].flatMap { folder in
            try names(in: folder).map { try fixture("\(folder)/\($0)/legacy.json") }
        }
        var random = Seeded(state: 20_261_130)
        for round in 0..<300 {
            var document = damage(inputs[round % inputs.count], &random)
            let source = document
            _ = Migrations.run(&document, plainContext)
            let once = document
            let again = Migrations.run(&document, plainContext)
            #expect(document == once && again.isEmpty, "\(source.text())\n\(again)")
        }
    }

    /// A quadratic step would take far longer than everything else here.
    @Test(.timeLimit(.minutes(5))) func manyLinesStayLinear() throws {
        let count = 10_000
        let outbounds: [JSON] = (0..<count).map { at in
            [
                "type": "trojan", "tag": .string("n\(at)"), "server": "node.example.net", "server_port": 443,
                "domain_strategy": "ipv4_only", "x-panel": 1, "tls": ["enabled": true],
            ]
        }
        var document: JSON = [
            "dns": ["servers": [["tag": "l", "address": "local"]]],
            "outbounds": .array(
                outbounds + [["type": "selector", "tag": "s", "outbounds": .strings((0..<count).map { "n\($0)" })]]),
        ]
        #expect(Migrations.run(&document, plainContext).count == 2 * count + 1)
        #expect(document["outbounds"].listed[count - 1]["domain_resolver"] == ["server": "l", "strategy": "ipv4_only"])
    }
}
