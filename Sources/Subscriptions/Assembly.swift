// Putting a subscription together from its entries.

internal import ImportReport
internal import JSON
internal import YAML

/// Converts the entries of a source and gives the result its tags and identities.
struct Assembly {
    let capabilities: EngineCapabilities

    func subscription(_ source: SourceDocument) -> Subscription {
        var out = Subscription(format: source.format)
        out.notices = source.notices
        out.providers = source.providers
        out.unusedGroups = source.unusedGroups
        out.unusedRules = source.unusedRules
        for entry in source.entries {
            if case .dropped(var line) = entry.content {
                line.detail = line.detail ?? entry.place
                out.dropped.append(line)
            }
        }
        let names = source.entries.map { entry -> String in
            if case .node(let fields) = entry.content { Self.name(fields) } else { "" }
        }
        let isInfo = messages(source.entries, names)
        var nodes: [ConvertedNode] = []
        for (index, entry) in source.entries.enumerated() {
            switch entry.content {
            case .dropped: break
            case .note(let text): out.info.append(text)
            case .notAMap: out.dropped.append(DroppedLine(name: "", type: nil, reason: .notAMap, detail: entry.place))
            case .node(let fields):
                if isInfo[index] {
                    out.info.append(names[index])
                    continue
                }
                do throws(Fault) {
                    nodes.append(try NodeConverter.convert(fields, name: names[index], capabilities: capabilities))
                } catch {
                    let type = NodeConverter.type(of: fields)
                    out.dropped.append(
                        DroppedLine(
                            name: names[index], type: type.isEmpty ? nil : Names.short(type), reason: error.reason,
                            field: error.field, detail: entry.place))
                }
            }
        }
        finish(nodes, source.groups, &out)
        return out
    }

    private static func name(_ fields: Fields) -> String { Names.cleaned(((try? fields.text("name")) ?? nil) ?? "") }

    /// Which entries are messages. If all were, a pattern has misfired and all are lines, unless they stand at
    /// addresses where nobody runs a line: then the account has expired and there is nothing but messages.
    private func messages(_ entries: [Entry], _ names: [String]) -> [Bool] {
        var flags = Array(repeating: false, count: entries.count)
        var hasLine = false
        var hasRealServer = false
        for (index, entry) in entries.enumerated() {
            guard case .node(let fields) = entry.content else { continue }
            let server = (try? fields.text("server")) ?? nil
            flags[index] = !names[index].isEmpty && InfoNodes.isInfo(name: names[index], server: server)
            if !flags[index] { hasLine = true }
            if let server, !InfoNodes.isPlaceholder(server) { hasRealServer = true }
        }
        if !hasLine, hasRealServer { flags = Array(repeating: false, count: entries.count) }
        return flags
    }

    /// Resolves diallers, hands out tags and builds the lists.
    private func finish(_ nodes: [ConvertedNode], _ groups: DialerGroups, _ out: inout Subscription) {
        let chains = DialerChains(nodes, groups: groups)
        var tags = TagMaker()
        var names: [(tag: String, helper: String?)] = []
        for (index, node) in nodes.enumerated() {
            guard chains.faults[index] == nil else {
                names.append(("", nil))
                continue
            }
            let tag = tags.tag(for: node.name)
            names.append((tag, node.helper == nil ? nil : tags.tag(for: tag + "#stls")))
        }
        var flattened: [Notice] = []
        var subjects: [LineIdentity.Subject] = []
        for (index, node) in nodes.enumerated() {
            if let fault = chains.faults[index] {
                out.dropped.append(DroppedLine(name: node.name, type: node.type, reason: fault, field: "dialer-proxy"))
                continue
            }
            out.notices.append(contentsOf: node.notices)
            if chains.flattened.contains(index), chains.target[index] != nil {
                flattened.append(Notice(name: node.name, code: .dialerGroupFlattened, field: "dialer-proxy"))
            }
            let detour = chains.target[index].map { names[$0].tag }
            append(node, tag: names[index].tag, helperTag: names[index].helper, detour: detour, to: &out)
            subjects.append(LineIdentity.Subject(.object(node.outbound), through: node.helper.map(JSON.object)))
        }
        out.notices.append(contentsOf: flattened)
        LineIdentity.assign(to: &out.lines, subjects)
    }

    private func append(
        _ node: ConvertedNode, tag: String, helperTag: String?, detour: String?, to out: inout Subscription
    ) {
        var outbound = node.outbound
        outbound["tag"] = .string(tag)
        var dial = node.dialFields
        if let detour {
            // With a detour the engine ignores the other dial fields.
            dial = JSONObject()
            dial["detour"] = .string(detour)
        }
        var helper = node.helper
        if var object = helper, let helperTag {
            object["tag"] = .string(helperTag)
            for member in dial.members { object[member.key] = member.value }
            outbound["detour"] = .string(helperTag)
            helper = object
        } else {
            for member in dial.members { outbound[member.key] = member.value }
        }
        if node.isEndpoint {
            out.endpoints.append(.object(outbound))
        } else {
            out.outbounds.append(.object(outbound))
        }
        if let helper { out.outbounds.append(.object(helper)) }
        out.lines.append(
            Line(
                name: node.name, tag: tag, type: node.type, server: node.server, port: node.port,
                multiplier: Multiplier.of(node.name), identity: ""))
    }
}
