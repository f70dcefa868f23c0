// An import's report as a page for a person.

import ImportReport
import Importing
import JSON
import Messages
import RuleSets

/// The page `import` and `update` print.
struct ImportPage {
    private let outcome: ImportOutcome
    private let isTrial: Bool
    /// Items of a list that are shown; the rest is counted.
    private static let most = 12
    /// Names shown of the lines that cannot be used for the same reason, and the columns of each.
    private static let mostNames = 3
    private static let widestName = 28

    init(_ outcome: ImportOutcome, isTrial: Bool) {
        self.outcome = outcome
        self.isTrial = isTrial
    }

    /// Writes the report: JSON with `--json`, else the page.
    func show(_ output: Output) {
        if output.json {
            output.result(outcome.report)
            return
        }
        for text in texts(output.language) { output.result(text) }
    }

    /// The page, line by line.
    func texts(_ language: Language) -> [String] {
        var lines: [String] = [headline(language)]
        for agent in outcome.agents { lines.append("  " + Self.text(agent)(language)) }
        if let quota = outcome.quota { lines.append(SubscriptionSummary.text(quota)(language)) }
        for note in outcome.notes.prefix(Self.most) { lines.append("  · " + note) }
        for warning in outcome.warnings { lines.append("! " + Self.text(warning)(language)) }
        lines +=
            Self.droppedLines(outcome.dropped, isTrial: isTrial, language) + noticeLines(language)
            + changeLines(language) + ruleSetLines(language)
        if outcome.unusedGroups + outcome.unusedRules > 0 {
            lines.append(
                Text(
                    "订阅中的 \(outcome.unusedGroups) 个分组和 \(outcome.unusedRules) 条规则没有使用；Trocket 自行分流。",
                    "\(outcome.unusedGroups) groups and \(outcome.unusedRules) rules of the subscription are not used; Trocket routes by itself."
                )(language))
        }
        lines.append(Text("选择：\(outcome.selection.line)", "Selected: \(outcome.selection.line)")(language))
        if !outcome.startsOffline {
            lines.append(Text("没有网络时可能无法启动。", "It may not start without a network.")(language))
        }
        return lines
    }

    private func headline(_ language: Language) -> String {
        let title = outcome.title.map { " " + DisplayWidth.cut($0, to: Table.widestName) } ?? ""
        let count = Text.count(outcome.lines.count, "条线路", "line").english
        let text =
            isTrial
            ? Text(
                "可以导入\(title)：\(outcome.lines.count) 条线路（没有改动任何文件）。",
                "Can be imported\(title): \(count) (nothing was changed)."
            )
            : Text("已导入\(title)：\(outcome.lines.count) 条线路。", "Imported\(title): \(count).")
        return text(language)
    }

    /// What could not be used: a line a reason, with their number and the first names.
    static func droppedLines(_ dropped: [DroppedLine], isTrial: Bool, _ language: Language) -> [String] {
        guard !dropped.isEmpty else { return [] }
        var lines = [
            Text(
                "不可用的线路 \(dropped.count) 条：",
                Text.count(dropped.count, "", "line").english + " cannot be used:")(language)
        ]
        let groups = Self.grouped(dropped, by: \.reason.rawValue)
        for (reason, dropped) in groups {
            let names = dropped.prefix(Self.mostNames).map { DisplayWidth.cut($0.name, to: Self.widestName) }
            let rest = dropped.count > names.count ? Text(" 等", ", …") : Text("", "")
            let list = names.joined(separator: language == .chinese ? "、" : ", ")
            lines.append(
                "  " + (Self.reason(reason) + Text("（\(dropped.count)）：", " (\(dropped.count)): "))(language) + list
                    + rest(language))
        }
        if !isTrial, groups.contains(where: { $0.1.count > Self.mostNames }) {
            lines.append(
                Text("  全部列表：trocket-controller lines --all", "  The whole list: trocket-controller lines --all")(
                    language))
        }
        return lines
    }

    private func noticeLines(_ language: Language) -> [String] {
        Self.grouped(outcome.notices, by: \.code.rawValue).map { code, notices in
            let text = Self.notice(code)
            return (Text.count(notices.count, "条线路", "line") + Text("：", ": "))(language) + text(language)
        }
    }

    /// How many changes of which kind; which ones is for those who read configurations.
    private func changeLines(_ language: Language) -> [String] {
        guard !outcome.changes.isEmpty else { return [] }
        let all = outcome.changes.count
        let migrated = outcome.changes.count { $0.reason.hasPrefix("migration ") }
        let text =
            Text("改动 \(all) 处", Text.count(all, "", "change").english)
            + Text("（其中 \(migrated) 处是换成新版写法）", " (\(migrated) to newer notation)")
            + Text(
                "；明细：trocket-controller convert SOURCE --report FILE",
                "; which: trocket-controller convert SOURCE --report FILE")
        return [text(language)]
    }

    private func ruleSetLines(_ language: Language) -> [String] {
        guard !outcome.ruleSets.isEmpty else { return [] }
        let rows = outcome.ruleSets.map { Self.row($0, language) }
        return [Text("规则集：", "Rule-sets:")(language)] + Table.lines(rows, right: [2]).map { "  " + $0 }
    }

    /// A rule-set as a row: tag, state, size, remark.
    static func row(_ set: RuleSetReport, _ language: Language) -> [String] {
        let status: Text =
            switch set.status {
            case .bundled: Text("内置", "bundled")
            case .cached: Text("已下载", "downloaded")
            case .removed: Text("未使用", "not used")
            }
        let remark = set.reason.map { Messages.ruleSetRemark($0)(language) } ?? set.url ?? ""
        return [set.tag, status(language), set.bytes.map { Figures.bytes($0) } ?? "", remark]
    }

    private static func text(_ agent: AgentResult) -> Text {
        if let error = agent.error {
            let status = agent.status.map { " \($0)" } ?? ""
            return Text("\(agent.agent)：失败（\(error)\(status)）", "\(agent.agent): failed (\(error)\(status))")
        }
        return Text(
            "\(agent.agent)：\(agent.lines) 条线路，新增 \(agent.added) 条（\(Figures.bytes(agent.bytes))）",
            "\(agent.agent): \(Text.count(agent.lines, "", "line").english), \(agent.added) added (\(Figures.bytes(agent.bytes)))"
        )
    }

    private static func text(_ warning: ImportWarning) -> Text {
        switch warning {
        case .insecureLink:
            Text(
                "订阅链接是不加密的 http，途中任何人都能读取和篡改。",
                "The link is plain http: anyone on the way can read and change the subscription.")
        case .agentFailed(let agent, let code):
            Text("用 \(agent) 获取失败（\(code)）。", "Fetching as \(agent) failed (\(code)).")
        case .providerFailed(let name, let code):
            Text("线路列表 \(name) 获取失败（\(code)）。", "The list of lines \(name) could not be fetched (\(code)).")
        case .tooManyProviders(let count):
            Text(
                "订阅引用了 \(count) 个线路列表，只获取前 \(Importer.mostProviders) 个。",
                "The subscription names \(count) lists of lines; the first \(Importer.mostProviders) are fetched.")
        case .selectionLost(let name):
            Text("原来选择的线路 \(name) 不在了，改为 auto。", "The selected line \(name) is gone; auto is used.")
        }
    }

    /// Why a line cannot be used, by its code.
    static func reason(_ code: String) -> Text {
        switch DropReason(rawValue: code) {
        case .unsupportedType: Text("不支持的协议", "unsupported protocol")
        case .unsupportedCipher: Text("不支持的加密方式", "unsupported cipher")
        case .unsupportedPlugin: Text("不支持的插件", "unsupported plugin")
        case .unsupportedTransport: Text("不支持的传输方式", "unsupported transport")
        case .unsupportedFeature: Text("不支持的功能", "unsupported feature")
        case .needsUTLS: Text("内核缺少 uTLS", "the engine lacks uTLS")
        case .needsNaive: Text("内核缺少 naive", "the engine lacks naive")
        case .needsWireGuard: Text("内核缺少 WireGuard", "the engine lacks WireGuard")
        case .needsQUIC: Text("内核缺少 QUIC", "the engine lacks QUIC")
        case .missingField: Text("缺少字段", "a field is missing")
        case .badField: Text("字段有误", "a field is wrong")
        case .badLink: Text("链接有误", "the link is wrong")
        case .localFile: Text("引用了本机文件", "names a file on this machine")
        case .dialerUnresolved: Text("前置代理不可用", "the line it dials through is not there")
        case .dialerCycle: Text("前置代理循环", "the lines it dials through lead in a circle")
        case .dialerNoUDP: Text("前置代理不支持 UDP", "the line it dials through has no UDP")
        case .notALine: Text("不是线路", "no line")
        case .notAMap: Text("不是线路的写法", "not written as a line")
        case .kernelRejected: Text("内核拒绝", "the engine refuses it")
        case nil: Text(verbatim: code)
        }
    }

    private static func notice(_ code: String) -> Text {
        switch NoticeCode(rawValue: code) {
        case .utlsUnavailable: Text("这个内核没有浏览器指纹（uTLS）", "browser fingerprint not available in this engine")
        case .pinDropped: Text("证书指纹无法使用，改为正常验证", "the certificate pin cannot be used; the certificate is verified")
        case .verifyForced: Text("不能跳过证书验证", "the certificate is verified all the same")
        case .udpDisabled: Text("UDP 不可用", "no UDP")
        case .hostKeyUnchecked: Text("SSH 主机密钥未核对", "the SSH host key is not checked")
        case .dialerGroupFlattened: Text("前置代理组取第一个可用的", "of a dialer group the first usable line is taken")
        case .fieldDropped: Text("有字段无法表达", "a field cannot be expressed")
        case nil: Text(verbatim: code)
        }
    }

    private static func grouped<Item>(_ items: [Item], by key: (Item) -> String) -> [(String, [Item])] {
        var order: [String] = []
        var groups: [String: [Item]] = [:]
        for item in items {
            let group = key(item)
            if groups[group] == nil { order.append(group) }
            groups[group, default: []].append(item)
        }
        return order.map { ($0, groups[$0] ?? []) }
    }
}
