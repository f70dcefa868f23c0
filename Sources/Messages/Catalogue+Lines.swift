// Sentences about lines: finding, measuring, selecting.

extension Messages {
    package static func lineUnknown(_ typed: String) -> Text {
        let typed = DisplayWidth.cut(typed, to: 60)
        return Text("没有名称含“\(typed)”的线路。", "No line has “\(typed)” in its name.")
    }
    /// - Parameter nearest: the names most like what was typed.
    package static func lineUnknownRemedy(_ nearest: [String]) -> Text {
        let list = nearest.map { "\n    " + $0 }.joined()
        return Text(
            "请用 trocket-controller lines 查看名称与序号。最接近的：\(list)",
            "See names and numbers with: trocket-controller lines. The nearest are:\(list)")
    }
    package static func lineAmbiguous(_ typed: String, _ count: Int) -> Text {
        Text("“\(typed)”可以指 \(count) 条线路。", "“\(typed)” may mean \(count) lines.")
    }
    package static func candidates(_ names: [String], more: Int) -> Text {
        let list = names.joined(separator: "\n    ")
        return Text(
            "请说得更具体，或用序号（如 #3）：\n    \(list)" + (more > 0 ? "\n    …另有 \(more) 条" : ""),
            "Say more of the name, or use a number such as #3:\n    \(list)"
                + (more > 0 ? "\n    … and \(more) more" : ""))
    }
    package static func selected(_ name: String) -> Text {
        let name = DisplayWidth.cut(name, to: 60)
        return Text("已选择：\(name)", "Selected: \(name)")
    }
    package static func switched(_ name: String) -> Text {
        let name = DisplayWidth.cut(name, to: 60)
        return Text(
            "已切换到：\(name)。已有的连接不受影响，新连接走新线路。",
            "Switched to: \(name). Open connections go on; new ones use the new line.")
    }
    package static func lineGone(_ name: String) -> Text {
        Text("原先选择的线路“\(name)”已不在订阅里。", "The line you chose, “\(name)”, is no longer in the subscription.")
    }
    package static let lineGoneRemedy = Text(
        "请用 trocket-controller select 重新选择；select auto 为自动。",
        "Choose again with trocket-controller select; select auto lets the engine choose.")
    package static func lineNotRunning(_ name: String) -> Text {
        Text("正在运行的内核还不认识线路“\(name)”。", "The running engine does not know the line “\(name)” yet.")
    }
    package static let lineNotRunningRemedy = Text(
        "订阅在连接后更新过：请断开再连接。", "The subscription was updated since you connected: disconnect and connect again.")

    // MARK: Measuring

    package static func measuring(_ done: Int, _ total: Int, _ good: Int) -> Text {
        Text("测速 \(done)/\(total)，可用 \(good)", "measured \(done) of \(total), \(good) answer")
    }
    package static func measured(_ good: Int, _ total: Int, _ seconds: String) -> Text {
        Text("\(total) 条线路中 \(good) 条可用，用时 \(seconds) 秒。", "\(good) of \(total) lines answer (\(seconds) s).")
    }
    package static func measuredThrough(running: Bool, url: String) -> Text {
        running
            ? Text("通过正在运行的内核请求 \(url)。", "Each asked for \(url) through the running engine.")
            : Text("通过临时内核请求 \(url)。", "Each asked for \(url) through a throw-away engine.")
    }
    package static let measuringInterrupted = Text(
        "已中断；测到的结果已保存。", "Interrupted; what was measured is kept.")
    package static let noLineAnswers = Text("没有一条线路可用。", "No line answers.")
    package static let noLineAnswersRemedy = Text(
        "请检查本机网络；若网络正常，请更新订阅或联系机场。",
        "Check this machine's network; if it is fine, update the subscription or ask the provider.")
    package static func cannotMeasure(_ state: String) -> Text {
        Text("连接状态为 \(state)，此时无法测速。", "The tunnel is \(state); lines cannot be measured now.")
    }
    package static let cannotMeasureRemedy = Text(
        "请等连接恢复，或先断开再测。", "Wait until it is connected, or disconnect first.")

    /// Why a line failed, in a word or two.
    package static let delayErrors: [String: Text] = [
        "timeout": Text("超时", "timeout"), "refused": Text("拒绝连接", "refused"),
        "unreachable": Text("不可达", "unreachable"), "tls": Text("TLS 失败", "TLS failed"),
        "dns": Text("域名解析失败", "name not found"), "proxy": Text("服务器不转发", "server does not carry it"),
        "failed": Text("失败（内核未说明）", "failed (cause unknown)"), "engine": Text("内核出错", "engine failed"),
        "cancelled": Text("已取消", "cancelled"), "closed": Text("连接中断", "closed"),
        "http": Text("HTTP 错误", "HTTP error"),
    ]
}
