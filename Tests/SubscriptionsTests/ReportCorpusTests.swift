// The subscriptions behind reported faults (reports 01 to 21) are read as their `expect.json` says.

import ImportReport
import JSON
import Testing

@testable import Subscriptions

@Suite struct ReportCorpusTests {
    /// The inputs of a case: the file, and where its expectations stand in `expect.json`.
    struct Case: CustomTestStringConvertible, Sendable {
        let folder: String
        let input: String
        let key: String?

        var testDescription: String { "\(folder)/\(input)" }
    }

    static let cases: [Case] = Fixture.names(in: "reports").flatMap { folder in
        Fixture.names(in: "reports/\(folder)").filter { $0.hasPrefix("input") }.map { input in
            let key = String(input.prefix { $0 != "." })
            return Case(folder: folder, input: input, key: key == "input" ? nil : key)
        }
    }

    /// What the corpus' short words mean in our codes.
    private static let reasons: [String: [DropReason]] = [
        "utls": [.needsUTLS], "transport": [.unsupportedTransport], "flow": [.unsupportedFeature],
        "encryption": [.unsupportedFeature], "protocol": [.unsupportedType], "not-in-build": [.needsNaive],
        "bad-port": [.badField, .missingField], "missing-server": [.missingField], "missing-uuid": [.missingField],
        "missing-password": [.missingField], "malformed": [.notAMap, .badLink],
    ]

    @Test func corpusIsThere() { #expect(Self.cases.count >= 24) }

    @Test(arguments: cases)
    func isReadAsExpected(_ one: Case) throws {
        let all = try Fixture.json("reports/\(one.folder)/expect.json")
        var expected = one.key.map { all[$0] } ?? all
        if expected["same_as"].string != nil { expected = all }
        let bytes = try Fixture.bytes("reports/\(one.folder)/\(one.input)")
        if let code = expected["error"].string {
            let error = #expect(throws: SubscriptionError.self) {
                try SubscriptionReader.read(bytes, capabilities: Fixture.plain).requireLines()
            }
            #expect(error?.code.rawValue == code)
            if let line = expected["must_mention_line"].int { #expect(error?.line == line) }
            if let text = expected["show"].string { #expect(error?.texts.contains(text) == true) }
            return
        }
        let found = try SubscriptionReader.read(bytes, capabilities: Fixture.plain)
        try checkLines(found, expected)
        try checkObjects(found, expected)
        checkLosses(found, expected)
    }

    private func checkLines(_ found: Subscription, _ expected: JSON) throws {
        let names = found.lines.map(\.name)
        if let lines = expected["lines"].array { #expect(names == lines.compactMap(\.string)) }
        if let count = expected["line_count"].int { #expect(names.count == count) }
        for name in expected["lines_include"].array ?? [] { #expect(names.contains(name.string ?? "")) }
        if let info = expected["info"].array { #expect(found.info == info.compactMap(\.string)) }
        for member in expected["multiplier"].object?.members ?? [] {
            let line = try #require(found.lines.first { $0.name == member.key })
            #expect(line.multiplier == member.value.double, "\(member.key)")
        }
    }

    /// Every expected field is there with the expected value; more fields may be.
    private func checkObjects(_ found: Subscription, _ expected: JSON) throws {
        for member in expected["outbound"].object?.members ?? [] {
            let line = try #require(found.lines.first { $0.name == member.key }, "\(member.key) is a line")
            let object = try #require((found.outbounds + found.endpoints).first { $0["tag"].string == line.tag })
            var wanted = member.value
            // `mapping.md` 3.8: with port hopping there is no `server_port`; the engine ignores it anyway.
            if !wanted["server_ports"].isNull { wanted.removeMember("server_port") }
            // `mapping.md` 2.1 and 3.4 say which ALPN these transports have, whatever the profile says.
            if wanted["transport"]["type"] == "http" { wanted["tls"].removeMember("alpn") }
            #expect(contains(object, wanted), "\(object.text()) holds \(wanted.text())")
            if wanted["tls"]["insecure"].isNull { #expect(object["tls"]["insecure"].isNull) }
        }
    }

    private func contains(_ value: JSON, _ wanted: JSON) -> Bool {
        guard let members = wanted.object?.members else { return value == wanted }
        return members.allSatisfy { contains(value[$0.key], $0.value) }
    }

    private func checkLosses(_ found: Subscription, _ expected: JSON) {
        if let dropped = expected["dropped"].array {
            #expect(found.dropped.count == dropped.count, "\(found.dropped)")
            for item in dropped {
                let name = item["name"].string ?? ""
                let line = found.dropped.first { line in
                    guard name.hasPrefix("#") else { return line.name == name }
                    let number = name.dropFirst()
                    return line.name.isEmpty && (line.detail == "entry \(number)" || line.detail == "line \(number)")
                }
                let reasons = Self.reasons[item["why"].string ?? ""] ?? []
                #expect(line.map { reasons.contains($0.reason) } == true, "\(name): \(found.dropped)")
            }
        }
        for item in expected["stripped"].array ?? [] {
            #expect(found.notices.contains { $0.name == item["name"].string && $0.code == .utlsUnavailable })
        }
    }

    @Test func fetchedProvidersAddTheirLines() throws {
        let folder = "reports/08-providers-only"
        let bytes = try Fixture.bytes(folder + "/input.yaml")
        let first = try SubscriptionReader.read(bytes, capabilities: Fixture.plain)
        #expect(first.providers == [ProviderRequest(name: "main", url: "https://sub.example.net/provider.yaml")])
        let body = try Fixture.bytes(folder + "/served/provider.yaml")
        let whole = try SubscriptionReader.read(bytes, capabilities: Fixture.plain, providerBodies: ["main": body])
        #expect(whole.lines.map(\.name) == ["P1"])
        #expect(whole.providers.isEmpty)
    }

    @Test func shortIdsKeepTheirText() throws {
        let folder = "reports/02-reality-shortid-number"
        let found = try SubscriptionReader.read(Fixture.bytes(folder + "/input.yaml"), capabilities: Fixture.rich)
        let expected = try Fixture.json(folder + "/expect.json")["if_kernel_had_utls"]["short_id"]
        for member in expected.object?.members ?? [] {
            let object = try #require(found.outbounds.first { $0["tag"].string == member.key })
            #expect(object["tls"]["reality"]["short_id"] == member.value)
        }
    }
}
