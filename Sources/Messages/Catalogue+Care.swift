// Sentences of logs, doctor, report and completion.

extension Messages {
    /// What a tunnel does not cover, by the worker's codes.
    package static let notCovered: [String: Text] = [
        "forwarded-traffic": Text(
            "不经隧道：容器与虚拟机转发的流量", "not covered: forwarded traffic of containers and virtual machines goes as before"),
        "earlier-connections": Text(
            "不经隧道：连接之前已打开的连接（不会转入隧道，请重新打开）",
            "not covered: connections opened before are not carried over; open them anew"),
        "bound-sockets": Text(
            "不经隧道：绑定到网卡的程序（内核没有 nftables）", "not covered: sockets bound to the uplink (no nftables in this kernel)"),
    ]

    /// UDP servers that listen on every address, by their ports.
    package static func udpServers(_ ports: [Int]) -> Text {
        let most = 8
        let more = ports.count > most
        let list = ports.prefix(most).map(String.init)
        return Text(
            "监听所有地址的 UDP 服务（端口 \(list.joined(separator: "、"))\(more ? " 等" : "")）可能经线路应答外来的请求",
            "UDP servers on every address (port \(list.joined(separator: ", "))\(more ? ", …" : "")) may answer the outside "
                + "through the line")
    }

    // MARK: Logs

    package static let cleared = Text("本程序的日志已清空。", "The controller's log is empty now.")
    package static let notOurLog = Text("只能清空本程序自己的日志。", "Only the controller's own log can be cleared.")
    package static let notOurLogRemedy = Text(
        "系统服务与内核的日志有大小上限，会自动轮换。", "Those of the service and the engine are bounded and rotated by the service.")
    package static let noLogYet = Text("还没有日志。", "There is no log yet.")

    // MARK: The link as a QR code

    package static let codeIsSecret = Text(
        "这是你的订阅链接，等同密码：看到它的人就能用你的订阅。用完请清屏。",
        "This is your link, as good as a password: whoever sees it can use your subscription. Clear the screen afterwards."
    )
    package static let codeNeedsTerminal = Text(
        "标准输出不是能显示二维码的终端，而二维码里是机密。",
        "Standard output is no terminal that shows a QR code, and the code holds a secret.")
    package static let codeNeedsTerminalRemedy = Text("确实需要时加 --force。", "Where it is wanted all the same: --force.")
    package static let noLink = Text(
        "订阅来自文件或标准输入，没有链接。", "The subscription came from a file or standard input; there is no link.")
    package static let noLinkRemedy = Text(
        "用链接重新导入：trocket-controller import -", "Import it by its link: trocket-controller import -")
    package static let linkTooLong = Text("链接太长，二维码放不下。", "The link is longer than a QR code can hold.")
    package static let linkTooLongRemedy = Text(
        "请用别的办法传到手机上。", "Bring it to the phone in another way.")
    package static func codeTooWide(_ needed: Int, _ columns: Int) -> Text {
        Text(
            "二维码需要 \(needed) 列，终端只有 \(columns) 列。", "The QR code needs \(needed) columns, the terminal has \(columns).")
    }
    package static let codeTooWideRemedy = Text("请放大窗口或缩小字体。", "Enlarge the window or take a smaller font.")

    // MARK: Forget

    package static let forgetWhileConnected = Text(
        "正在连接中，没有删除任何内容。", "The tunnel is up and uses the subscription; nothing was removed.")
    package static let forgetWhileConnectedRemedy = Text(
        "请先断开：trocket-controller disconnect", "Disconnect first: trocket-controller disconnect")

    // MARK: Doctor

    package static let ready = Text("可以连接。", "Ready to connect.")
    package static let notReady = Text("现在不能连接，请先处理标记 ✗ 的项目。", "It could not connect now; see the items marked ✗.")
    package static func stateUsable(_ path: String) -> Text { Text("状态目录 \(path)", "state directory \(path)") }
    package static func subscriptionUsable(_ count: Int, _ title: String?) -> Text {
        Text(
            "订阅\(title.map { "“\($0)”" } ?? "")：\(count) 条线路",
            "subscription\(title.map { " “\($0)”" } ?? ""): " + Text.count(count, "", "line").english)
    }
    package static func lineChosen(_ name: String) -> Text { Text("选择的线路：\(name)", "chosen line: \(name)") }
    package static func engineUsable(_ version: String, _ path: String) -> Text {
        Text("内核 sing-box \(version)（\(path)）", "engine sing-box \(version) (\(path))")
    }
    package static func engineLacks(_ tags: [String]) -> Text {
        let list = tags.joined(separator: ", ")
        return Text("内核没有编入：\(list)", "the engine is built without: \(list)")
    }
    package static let engineLacksRemedy = Text(
        "需要它们的线路不可用；可用 scripts/build-engine 自行编译完整内核。",
        "Lines that need these cannot be used; scripts/build-engine builds the engine with all of them.")
    package static func ruleSetsUsable(_ path: String) -> Text {
        Text("国内域名与地址规则集（\(path)）", "rule-sets of domestic names and addresses (\(path))")
    }
    package static func ruleSetMissing(_ path: String) -> Text {
        Text("缺少规则集 \(path)", "the rule-set \(path) is missing")
    }
    package static let ruleSetMissingRemedy = Text(
        "请安装 Trocket，或用 TROCKET_RULE_SETS 指定目录。", "Install Trocket, or set TROCKET_RULE_SETS to their directory.")
    package static let sandboxUsable = Text(
        "内核能建立自己的沙箱（用户与网络命名空间）", "the engine can make its sandbox (user and network namespace)")
    package static func sandboxUnusable(_ words: Text) -> Text {
        Text("内核不能建立沙箱：", "the engine cannot make its sandbox: ") + words
    }
    package static let tunUsable = Text("/dev/net/tun 可用", "/dev/net/tun can be opened")
    package static let tunUnusable = Text("/dev/net/tun 不存在或不可用", "/dev/net/tun is missing or closed")
    package static let netfilterUsable = Text("内核有 nftables", "the kernel has nftables")
    package static let netfilterMissing = Text(
        "内核没有 nftables：没有断网保护，速度较慢", "no nftables in this kernel: no kill switch, and slower")
    package static let netfilterRemedy = Text("请运行 sudo modprobe nf_tables。", "Run: sudo modprobe nf_tables")
    package static let groupMissing = Text("系统里没有 trocket 组", "there is no group trocket")
    package static let groupMissingRemedy = Text("请安装 Trocket。", "Install Trocket.")
    package static let groupMember = Text("当前会话属于 trocket 组", "this session is in group trocket")
    package static let groupNotMember = Text("当前会话不属于 trocket 组", "this session is not in group trocket")
    package static func workerUsable(_ version: String) -> Text {
        Text("系统服务在运行，版本 \(version)", "the service runs, version \(version)")
    }
    package static func workerOtherVersion(_ version: String, _ own: String) -> Text {
        Text("系统服务版本 \(version) 与本程序 \(own) 不同", "the service is version \(version), this program \(own)")
    }
    package static func workerElsewhere(_ theirs: String, _ ours: String) -> Text {
        Text(
            "系统服务用的状态目录是 \(theirs)，本次用的是 \(ours)",
            "the service reads the state directory \(theirs), this run uses \(ours)")
    }
    package static let workerElsewhereRemedy = Text(
        "连接只用前者；请不要用 --state-dir，或把订阅导入到那里。", "Connecting uses the former: leave --state-dir out, or import there.")
    package static func resolvers(_ list: [String]) -> Text {
        let names = list.isEmpty ? "-" : list.joined(separator: ", ")
        return Text("本机 DNS 服务器：\(names)", "this machine's DNS servers: \(names)")
    }
    package static let stubResolver = Text(
        "正在使用 systemd-resolved；连接时会设置并核对它的 DNS", "systemd-resolved is in use; its DNS is set and read back on connect")
    package static func resolverRefuses(isStopped: Bool) -> Text {
        Text("systemd-resolved 不接受改走隧道的设置；", "systemd-resolved refuses to ask through the tunnel; ")
            + (isStopped
                ? Text("它绑定到其他网卡的查询已被拦下，域名可能无法解析", "what it asks by other links is stopped, names may not resolve")
                : Text("它绑定到其他网卡的查询不经隧道", "what it asks by other links goes around the tunnel"))
    }
    package static let resolverRefusesRemedy = Text(
        "请安装 polkitd 与安装包自带的 polkit 规则（50-trocket.rules），然后再运行 status。",
        "Install polkitd and the package's polkit rule (50-trocket.rules), then ask for the status again.")
    package static func tunnelState(_ state: String) -> Text {
        Text("当前状态：", "the tunnel is ") + (states[state] ?? Text(verbatim: state))
    }
    package static let notVerified = Text(
        "已连接，但网络设置与预期不符", "connected, but the network is not as it should be")
    package static func otherClient(_ name: String) -> Text {
        Text("还有其他代理或 VPN：", "another proxy or VPN is active: ") + clientName(name)
    }
    /// Another client, by the worker's name for it.
    package static func clientName(_ name: String) -> Text {
        Text(name.inChinese(by: [Text("sing-box 或 mihomo", "sing-box or mihomo")]) ?? name, name)
    }
    package static let otherClientRemedy = Text(
        "两者可以共存，但若上网异常，请先停掉它。", "Both can live together; if something fails, stop it first.")

    // MARK: Report

    package static let reportNote = Text(
        "报告已去掉链接、密码、线路名与地址；提交前请再看一眼。",
        "Links, passwords, line names and addresses are removed; have a look before you send it.")
}
