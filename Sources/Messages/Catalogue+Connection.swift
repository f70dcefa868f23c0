// Sentences about connecting, the state of the connection and its proof.

extension Messages {
    /// The states of the tunnel, by the worker's names.
    package static let states: [String: Text] = [
        "disconnected": Text("未连接", "disconnected"), "connecting": Text("正在连接", "connecting"),
        "connected": Text("已连接", "connected"), "reconnecting": Text("正在重连", "reconnecting"),
        "blocked": Text("已阻断", "blocked"), "disconnecting": Text("正在断开", "disconnecting"),
    ]
    /// The stages of connecting, by the worker's names.
    package static let stages: [String: Text] = [
        "engine": Text("启动内核与沙箱", "starting the engine in its sandbox"),
        "link": Text("建立防护、虚拟网线、路由与规则", "placing guard, link, routes and rules"),
        "sandbox": Text("布置沙箱内的网络", "setting up the inside of the sandbox"),
        "verify": Text("逐项读回核对", "reading everything back"),
        "waiting": Text("等待后重启内核", "waiting before the engine is started again"),
    ]
    package static func stage(_ name: String) -> Text {
        Text("正在连接：", "Connecting: ") + (stages[name] ?? Text(verbatim: name))
    }
    package static func notConnected(_ state: String) -> Text {
        Text("现在没有连接（", "Not connected (") + (states[state] ?? Text(verbatim: state)) + Text("）。", ").")
    }
    package static let notConnectedRemedy = Text(
        "请先运行 trocket-controller connect。", "Run first: trocket-controller connect")
    package static let proving = Text("正在用一次真实的 HTTPS 请求验证线路", "Proving the line by a real HTTPS request")
    package static func connected(_ line: Text, _ milliseconds: Int) -> Text {
        Text("已连接：", "Connected: ") + line
            + Text("，验证用时 \(milliseconds) 毫秒。", ", proven in \(milliseconds) ms.")
    }
    package static func lineNotAnswering(_ line: Text, _ error: Text) -> Text {
        Text("已连接，但线路“", "Connected, but the line “") + line + Text("”没有应答（", "” does not answer (") + error
            + Text("）。", ").")
    }
    package static let lineNotAnsweringRemedy = Text(
        "请换一条线路：trocket-controller test，再 trocket-controller select LINE。",
        "Choose another: trocket-controller test, then trocket-controller select LINE")
    /// - Parameter isStopped: whether there is a guard, which stops it.
    package static func diverted(
        family: Int, onlyNames: Bool, link: String?, rule: String?, isStopped: Bool
    ) -> Text {
        let what =
            onlyNames ? Text("IPv\(family) 的域名查询", "IPv\(family) DNS") : Text("IPv\(family) 流量", "IPv\(family) traffic")
        let fate =
            isStopped || link == nil
            ? Text("没有进入隧道，已被拦下：", " does not enter the tunnel and is stopped: ")
            : Text("没有进入隧道，直接发出：", " goes around the tunnel: ")
        let culprit =
            rule.map { Text("其他程序的路由规则“\($0)”", "another program's routing rule “\($0)”") }
            ?? Text("其他程序的网络设置", "another program's network settings")
        let end =
            link.map { Text("把它引向 \($0)。", " sends it to \($0).") } ?? Text("使它无路可走。", " leaves it no way.")
        return what + fate + culprit + end
    }
    package static func divertedRemedy(family: Int, priority: String?) -> Text {
        let command = (family == 4 ? "ip" : "ip -6") + " rule show" + (priority.map { " priority \($0)" } ?? "")
        return Text(
            "请停掉添加它的程序（查看：\(command)）；若是 VPN，也可以先启动它，再连接。",
            "Stop the program that added it (see: \(command)); a VPN can also be started first and connected beside.")
    }
    package static let blocked = Text("除本地网络外，现在不放行任何流量。", "Nothing but local traffic leaves this machine now.")
    package static let blockedRemedy = Text(
        "恢复网络：trocket-controller disconnect；再试一次：trocket-controller connect。",
        "trocket-controller disconnect opens the network, trocket-controller connect tries again.")
    package static func connectTimeout(_ seconds: Int) -> Text {
        Text("\(seconds) 秒内没有连上；系统服务还在继续。", "Not connected after \(seconds) s; the service keeps trying.")
    }
    package static let connectTimeoutRemedy = Text(
        "请看 trocket-controller status，或用 --wait 等得更久。", "See trocket-controller status, or wait longer with --wait.")
    package static let connectInterrupted = Text(
        "已中断等待；系统服务仍在继续连接。", "Interrupted; connecting goes on in the service.")
    package static let proofInterrupted = Text(
        "已中断验证；连接已建立，仍然保持。", "Interrupted before the line was proven; the connection is up and stays.")
    package static let interruptedRemedy = Text(
        "撤销请运行 trocket-controller disconnect。", "Undo it with: trocket-controller disconnect")
    package static func lineOverridden(_ wanted: String, inForce: String) -> Text {
        Text(
            "已连接，但另一个命令同时改了线路：现在用的是“\(inForce)”，不是“\(wanted)”。",
            "Connected, but another command changed the line meanwhile: “\(inForce)” is in use, not “\(wanted)”.")
    }
    package static func lineOverriddenRemedy(_ wanted: String) -> Text {
        Text(
            "要用它请运行 trocket-controller select '\(wanted)'。", "To use it, run: trocket-controller select '\(wanted)'")
    }
    package static let engineNotAnswering = Text(
        "代理内核没有应答，流量可能不通。", "The engine does not answer; traffic may be stuck.")
    package static let engineNotAnsweringRemedy = Text(
        "请断开再连接：trocket-controller disconnect，再 trocket-controller connect。",
        "Disconnect and connect again: trocket-controller disconnect, then trocket-controller connect")
    package static let noNetwork = Text("本机没有网络（没有默认路由）", "this machine has no network (no default route)")
    package static let noNetworkRemedy = Text(
        "本机没有网络（没有默认路由）：请先接上网线或 Wi-Fi。",
        "This machine has no network (no default route): connect it to one first.")
    package static let networkThere = Text("本机有默认路由", "this machine has a default route")
    package static func confirmBy(_ seconds: Int) -> Text {
        Text(
            "请在 \(seconds) 秒内运行 trocket-controller confirm，否则连接会自动撤销。",
            "Run trocket-controller confirm within \(seconds) s, or the connection is undone.")
    }
    package static let confirmed = Text("已确认，保持连接。", "Confirmed; the connection stays.")
    package static let disconnected = Text("已断开，本机网络已恢复原样。", "Disconnected; the host is as it was.")
    package static func repaired(_ count: Int) -> Text {
        Text("清理了上次异常退出留下的 \(count) 项：", "Repaired what a crash had left (\(count)):")
    }

    // MARK: Status

    package static func mode(_ mode: String) -> Text {
        switch mode.lowercased() {
        case "rule": Text("规则（国内直连）", "rule (domestic traffic goes direct)")
        case "global": Text("全局（全部走线路）", "global (everything through the line)")
        default: Text(verbatim: mode)
        }
    }
    package static let domesticFastPath = Text("，国内流量不经内核", ", past the engine")
    package static let modeLabel = Text("模式", "Mode")
    package static let stateLabel = Text("状态", "State")
    package static let lineLabel = Text("线路", "Line")
    package static let proofLabel = Text("验证", "Proof")
    package static let trafficLabel = Text("流量", "Traffic")
    package static let killSwitchLabel = Text("断网保护", "Kill switch")
    package static let engineLabel = Text("内核", "Engine")
    package static let dnsLabel = Text("DNS", "DNS")
    package static let quotaLabel = Text("套餐", "Quota")
    package static let noticeLabel = Text("注意", "Note")
    package static let othersLabel = Text("其他代理", "Other clients")
    package static let reasonLabel = Text("原因", "Reason")
    package static let on = Text("开", "on")
    package static let off = Text("关", "off")
    package static let onAtTheNextConnect = Text("下次连接时打开", "on at the next connect")
    package static let none = Text("无", "none")
    package static let unknown = Text("未知", "unknown")
    package static func since(_ age: Text) -> Text { Text("，已持续 ", " for ") + age }
    package static func ago(_ age: Text) -> Text {
        Text(age.chinese + "前", age.english + " ago")
    }
    package static func proven(_ milliseconds: Int, _ age: Text) -> Text {
        Text("线路应答正常，\(milliseconds) 毫秒（", "the line answered in \(milliseconds) ms (") + ago(age) + Text("）", ")")
    }
    package static func notProven(_ error: Text, _ age: Text) -> Text {
        Text("线路没有应答：", "the line does not answer: ") + error + Text("（", " (") + ago(age) + Text("）", ")")
    }
    package static let unproven = Text("尚未验证（status --proof 验证一次）", "not proven yet (status --proof asks once)")
    package static let ofAnother = Text("属于另一个用户", "it belongs to another user")
    package static func automatic(_ line: String?) -> Text {
        guard let line else { return Text("自动", "auto") }
        return Text("自动（现为 \(line)）", "auto (now \(line))")
    }
    package static func traffic(_ up: String, _ down: String) -> Text {
        Text("上传 \(up)，下载 \(down)", "up \(up), down \(down)")
    }
    package static func rates(_ up: String, _ down: String) -> Text {
        Text("，现在 ↑\(up)/s ↓\(down)/s", ", now ↑\(up)/s ↓\(down)/s")
    }
    package static func engine(_ version: String, _ memory: String, _ restarts: Int) -> Text {
        Text(
            "sing-box \(version)，内存 \(memory)" + (restarts > 0 ? "，重启 \(restarts) 次" : ""),
            "sing-box \(version), memory \(memory)" + (restarts > 0 ? ", restarted \(restarts) times" : ""))
    }
    package static func quota(used: String, total: String?, expires: String?) -> Text {
        Text(
            "已用 \(used)" + (total.map { "，共 \($0)" } ?? "") + (expires.map { "，\($0) 到期" } ?? ""),
            "\(used) used" + (total.map { " of \($0)" } ?? "") + (expires.map { ", expires \($0)" } ?? ""))
    }
    package static func confirmWithin(_ seconds: Int) -> Text {
        Text("\(seconds) 秒内未确认将撤销", "undone in \(seconds) s unless confirmed")
    }
    package static let hostSide = Text("== 本机一侧", "== host side")
    package static let sandboxSide = Text("== 沙箱一侧", "== sandbox side")

    /// How names are kept inside the tunnel, by the worker's names; the English is the worker's own.
    package static let dns: [String: Text] = [
        "capture": Text("发往任何服务器的 DNS 查询都被收进隧道", "DNS queries to any server are taken into the tunnel"),
        "resolved": Text("systemd-resolved 经隧道查询", "systemd-resolved asks through the tunnel"),
        "refused": Text(
            "systemd-resolved 没有接受改走隧道的设置", "systemd-resolved could not be told to ask through the tunnel"),
    ]

    // MARK: Connections

    package static let noConnections = Text("没有活动的连接。", "There are no live connections.")
    package static func closed(_ count: Int) -> Text { Text("已关闭 \(count) 个连接。", "Connections closed: \(count).") }
    package static func connectionUnknown(_ id: String) -> Text {
        Text("没有编号为 \(id) 的连接。", "There is no connection \(id).")
    }
    package static let connectionUnknownRemedy = Text(
        "请用 trocket-controller connections 查看编号。", "See the numbers with: trocket-controller connections")
}
