// What the running screen says beside what the dashboard does.

import Messages
import Screen

/// Words of the screen's own.
enum AppWords {
    static func tested(_ good: Int, _ count: Int) -> Text {
        Text("已测 \(count) 条线路，\(good) 条可用。", "\(good) of \(count) lines answer.")
    }

    static func imported(_ lines: Int, _ dropped: Int) -> Text {
        dropped == 0
            ? Text("订阅已就绪：\(lines) 条线路。", "The subscription is ready: \(lines) lines.")
            : Text(
                "订阅已就绪：\(lines) 条线路，\(dropped) 条不可用。", "The subscription is ready: \(lines) lines, \(dropped) unusable."
            )
    }

    static func verbEnded(_ status: Int32) -> Text {
        Text("操作失败（状态 \(status)）。", "That failed (status \(status)).")
    }

    static let codeNeedsColours = Text(
        "二维码需要颜色。请用：trocket-controller profile --qr",
        "The QR code needs colours. Use: trocket-controller profile --qr")

    /// Why a line of the subscription cannot be used, by the code of the import's report.
    static func dropped(_ reason: String) -> Text {
        switch reason {
        case "unsupported_type": Text("协议不支持", "unsupported")
        case "unsupported_cipher": Text("加密不支持", "cipher")
        case "unsupported_plugin": Text("插件不支持", "plugin")
        case "unsupported_transport": Text("传输不支持", "transport")
        case "unsupported_feature": Text("功能不支持", "feature")
        case "needs_utls": Text("内核缺 uTLS", "needs uTLS")
        case "needs_naive": Text("内核缺 naive", "needs naive")
        case "needs_wireguard": Text("内核缺 WG", "needs WG")
        case "needs_quic": Text("内核缺 QUIC", "needs QUIC")
        case "missing_field", "bad_field", "bad_link", "not_a_line", "not_a_map": Text("配置有误", "malformed")
        case "local_file": Text("引用本地文件", "local file")
        case "dialer_unresolved", "dialer_cycle", "dialer_no_udp": Text("前置代理无效", "bad dialer")
        case "kernel_rejected": Text("内核拒绝", "rejected")
        default: Text(verbatim: reason)
        }
    }
}

extension Failure {
    /// A terminal that cannot show the screen.
    static func screen(_ error: ScreenError) -> Failure {
        let remedy = Text(
            "请在终端里运行，或使用子命令：trocket-controller --help。",
            "Run it in a terminal, or use the verbs: trocket-controller --help")
        switch error {
        case .notATerminal:
            return Failure(
                "no-terminal", .usage, Text("界面需要终端。", "The screen needs a terminal."), remedy: remedy)
        case .noName:
            return Failure("no-terminal", .usage, Text("没有设置 TERM。", "TERM is not set."), remedy: remedy)
        case .unknown(let name):
            return Failure(
                "no-terminal", .usage,
                Text("系统不认识终端类型“\(name)”。", "The terminal type “\(name)” is not known here."),
                remedy: Text(
                    "请安装 ncurses-term，或试试 TERM=xterm-256color。", "Install ncurses-term, or try TERM=xterm-256color."))
        case .cannotAddress(let name):
            return Failure(
                "no-terminal", .usage,
                Text("终端类型“\(name)”不能移动光标。", "The terminal type “\(name)” cannot move its cursor."), remedy: remedy)
        case .refused:
            return Failure(
                "no-terminal", .failed, Text("ncurses 无法启动。", "ncurses would not start."), remedy: remedy)
        }
    }
}
