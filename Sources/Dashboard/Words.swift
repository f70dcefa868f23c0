// Every word of the screen, in both languages.

import Messages

/// The screen's catalogue. `Text` cannot be made with a language missing.
enum Words {
    static func phase(_ phase: Connection.Phase) -> Text {
        switch phase {
        case .unknown: Text("正在询问状态", "Asking")
        case .unavailable: Text("后台服务不可用", "Worker unavailable")
        case .disconnected: Text("未连接", "Disconnected")
        case .connecting: Text("正在连接", "Connecting")
        case .connected: Text("已连接", "Connected")
        case .reconnecting: Text("正在重连", "Reconnecting")
        case .blocked: Text("已阻断，不放行任何流量", "Blocked, nothing may pass")
        case .disconnecting: Text("正在断开", "Disconnecting")
        }
    }

    static func proof(_ proof: Proof) -> Text? {
        switch proof {
        case .none: nil
        case .checking: Text("正在验证线路", "checking the line")
        case .answered(let milliseconds): Text("已验证 \(milliseconds) ms", "line answers, \(milliseconds) ms")
        case .silent: Text("线路没有应答", "line not answering")
        }
    }

    static func mode(_ mode: Mode) -> Text {
        switch mode {
        case .rule: Text("规则", "rule")
        case .global: Text("全局", "global")
        }
    }

    static func sort(_ sort: Sort) -> Text {
        switch sort {
        case .order: Text("原始顺序", "provider's order")
        case .latency: Text("延迟", "latency")
        case .name: Text("名称", "name")
        case .multiplier: Text("倍率", "multiplier")
        }
    }

    static func failure(_ code: String) -> Text {
        switch code {
        case "timeout": Text("超时", "timeout")
        case "refused": Text("被拒绝", "refused")
        case "tls": Text("TLS 失败", "TLS failed")
        case "dns": Text("解析失败", "no address")
        case "proxy": Text("代理拒绝", "proxy")
        case "unreachable": Text("不可达", "no route")
        case "failed": Text("失败", "failed")
        case "engine": Text("内核出错", "engine")
        case "cancelled": Text("已取消", "cancelled")
        default: Text(verbatim: code)
        }
    }

    static func source(_ source: LogSource) -> Text {
        switch source {
        case .worker: Text("后台", "worker")
        case .engine: Text("内核", "engine")
        case .controller: Text("界面", "controller")
        }
    }

    static let line = Text("线路", "Line")
    static let noLine = Text("尚未选择线路", "no line chosen")
    static let automatic = Text("自动选择最快的线路", "automatic, the fastest line")
    static let loading = Text("正在读取…", "Reading…")
    static let mode = Text("模式", "Mode")
    static let killSwitch = Text("断网保护", "Kill switch")
    static let on = Text("开", "on")
    static let off = Text("关", "off")
    static let otherUser = Text("由其他用户连接", "connected by another user")
    static let total = Text("累计", "Total")
    static let quota = Text("流量", "Quota")
    static let quotaUnknown = Text("服务商未提供", "not told by the provider")
    static let unlimited = Text("不限", "unlimited")
    static let expires = Text("到期", "Expires")
    static let expired = Text("已过期", "expired")
    static let today = Text("今天到期", "today")
    static func daysLeft(_ days: Int) -> Text { Text("剩 \(days) 天", days == 1 ? "1 day left" : "\(days) days left") }

    static let justNow = Text("刚刚", "now")
    static let lines = Text("线路", "Lines")
    static let sorted = Text("排序", "Sort")
    static let filter = Text("筛选", "Filter")
    static let measuring = Text("测速", "Testing")
    static let importing = Text("正在导入…", "Importing…")
    static let updating = Text("正在更新订阅…", "Updating the subscription…")
    static let nothingMatches = Text("没有匹配的线路，Esc 清除筛选。", "No line matches. Esc clears the filter.")
    static let noConnections = Text("没有活动连接。", "No live connections.")
    static let noLogs = Text("日志为空。", "The log is empty.")
    static let liveConnections = Text("活动连接", "Live connections")
    static let logs = Text("日志", "Log")
    static let help = Text("帮助", "Help")
    static let paste = Text("导入订阅", "Import a subscription")

    static let welcome: [Text] = [
        Text("欢迎使用 Trocket", "Welcome to Trocket"),
        Text("", ""),
        Text("1  按 i，粘贴服务商给你的订阅链接，按回车", "1  Press i, paste the link your provider gave you, press Enter"),
        Text("2  按 t，测试所有线路的延迟", "2  Press t to measure the latency of all lines"),
        Text("3  用 ↑ ↓ 选线路，按回车选定", "3  Choose a line with ↑ ↓ and press Enter"),
        Text("4  按空格连接，再按一次断开", "4  Press space to connect, once more to disconnect"),
        Text("", ""),
        Text(
            "链接等同密码：Trocket 不显示、不记录、不写入日志。",
            "The link is as good as a password: Trocket never shows, logs or passes it on."),
    ]

    static let pasteHint = Text(
        "粘贴订阅链接，或多行分享链接，然后按回车。", "Paste the subscription link, or lines of share links, then press Enter.")
    static let pasteSecret = Text(
        "链接是密码，因此只显示开头。", "The link is a secret, so only its beginning is shown.")
    static func pasted(_ characters: Int, _ lines: Int) -> Text {
        lines > 1
            ? Text("\(lines) 行，\(characters) 个字符", "\(lines) lines, \(characters) characters")
            : Text("\(characters) 个字符", characters == 1 ? "1 character" : "\(characters) characters")
    }

    static let codeIsSecret = Text(
        "这是订阅链接，等同密码，别让人看到。按任意键关闭。", "Your link: as good as a password, let nobody see it. Any key closes.")
    static func noRoomForCode(_ needed: (columns: Int, rows: Int), _ size: Size) -> Text {
        Text(
            "二维码需要 \(needed.columns)×\(needed.rows) 的窗口，现在是 \(size.columns)×\(size.rows)。请放大窗口或缩小字体；按任意键返回。",
            "The QR code needs a window of \(needed.columns)×\(needed.rows), this one has \(size.columns)×\(size.rows). "
                + "Enlarge it or take a smaller font; any key goes back.")
    }

    static func tooSmall(_ size: Size, _ needed: Size) -> Text {
        Text(
            "窗口太小：\(size.columns)×\(size.rows)，至少 \(needed.columns)×\(needed.rows)",
            "Too small: \(size.columns)×\(size.rows), need \(needed.columns)×\(needed.rows)")
    }

    static func undoIn(_ seconds: Int) -> Text {
        Text("\(seconds) 秒后撤销连接。按 y 保留。", "The connection is undone in \(seconds) s. Press y to keep it.")
    }
    static let unguard = Text(
        "关闭断网保护会让流量直接流出。确定吗？按 y 确定，其他键取消。",
        "Without the kill switch traffic may leave in the open. Sure? y for yes, any other key for no.")
    static let closeAll = Text(
        "关闭全部连接？按 y 确定，其他键取消。", "Close all connections? y for yes, any other key for no.")
    static let noSubscriptionYet = Text("先按 i 导入订阅。", "Press i to import a subscription first.")
    static let notMine = Text(
        "连接属于其他用户，不能在此更改。", "The connection belongs to another user and cannot be changed here.")
    static func cannotUse(_ why: Text) -> Text { Text("不能使用：", "Cannot be used: ") + why }
    static let copied = Text("已复制到剪贴板（若终端允许）。", "Copied, where the terminal allows it.")

    // Keys, each as short as it can be.
    static let keyConnect = Text("连接", "connect")
    static let keyDisconnect = Text("断开", "disconnect")
    static let keySelect = Text("选定", "select")
    static let keyTest = Text("测速", "test")
    static let keyCancel = Text("取消", "cancel")
    static let keyFilter = Text("筛选", "filter")
    static let keySort = Text("排序", "sort")
    static let keyMode = Text("模式", "mode")
    static let keyKill = Text("断网保护", "kill switch")
    static let keyUpdate = Text("更新", "update")
    static let keyImport = Text("导入", "import")
    static let keyLogs = Text("日志", "logs")
    static let keyConnections = Text("连接列表", "connections")
    static let keyHelp = Text("帮助", "help")
    static let keyQuit = Text("退出", "quit")
    static let keyBack = Text("返回", "back")
    static let keySource = Text("来源", "source")
    static let keyCopy = Text("复制", "copy")
    static let keyClear = Text("清空", "clear")
    static let keyCode = Text("二维码", "QR code")
    static let keyClose = Text("关闭", "close")
    static let keyCloseAll = Text("全部关闭", "close all")
    static let keyImportNow = Text("导入", "import")
    static let keyScroll = Text("滚动", "scroll")
    static let enter = Text("回车", "Enter")
    static let space = Text("空格", "space")

    static let helpRows: [(keys: Text, meaning: Text)] = [
        (space, Text("连接，或断开（断开会解除阻断）", "connect, or disconnect (which also ends blocking)")),
        (enter, Text("选定光标所在线路；已连接时立即切换", "use the line under the cursor; switches at once when connected")),
        (Text(verbatim: "↑ ↓ PgUp PgDn"), Text("移动；鼠标滚轮和点击也行", "move; the mouse's wheel and clicks work too")),
        (Text(verbatim: "/"), Text("输入即筛选；Esc 清除", "filter as you type; Esc clears")),
        (Text(verbatim: "s"), Text("排序：原始顺序、延迟、名称、倍率", "sort: provider's order, latency, name, multiplier")),
        (Text(verbatim: "t"), Text("测试所有线路的延迟；再按一次取消", "measure all lines; once more cancels")),
        (Text(verbatim: "T"), Text("只测光标所在线路", "measure only the line under the cursor")),
        (Text(verbatim: "m"), Text("模式：规则（国内直连）或全局", "mode: rule (China direct) or global")),
        (Text(verbatim: "k"), Text("断网保护：隧道断开时不放行任何流量", "kill switch: nothing leaves while the tunnel is down")),
        (Text(verbatim: "u"), Text("更新订阅；失败时保留旧的", "update the subscription; the old one stays if it fails")),
        (Text(verbatim: "i"), Text("粘贴订阅链接", "paste a subscription link")),
        (Text(verbatim: "r"), Text("订阅链接的二维码，供手机扫描", "the subscription's link as a QR code, for a phone")),
        (Text(verbatim: "l"), Text("日志", "logs")),
        (Text(verbatim: "c"), Text("活动连接，可逐条关闭", "live connections; close one or all")),
        (Text(verbatim: "q"), Text("退出界面，隧道继续运行", "leave the screen; the tunnel keeps running")),
    ]
}
