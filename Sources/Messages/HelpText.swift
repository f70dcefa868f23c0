// The sentences of the help pages.

/// One summary a verb, one sentence an option.
package enum HelpText {
    package static let program = Text(
        "Trocket：一个订阅，选一条线路，整机上网。", "Trocket: one subscription, one line, the whole machine connected.")
    package static let epilogue = Text(
        "不带命令运行即进入全屏界面。LINE 可以是完整名称、列表序号或唯一的部分名称。"
            + "退出码：0 成功，1 失败，2 未连接，64 用法，65 数据有误，69 服务或内核不可用，75 网络暂时不通，77 无权限，78 状态损坏，130 被 Ctrl-C 中断。",
        "Without a verb the single screen opens. LINE is a full name, a number of the list, or a unique part of a name. "
            + "Exit status: 0 done, 1 failed, 2 not connected, 64 usage, 65 bad data, 69 worker or engine unusable, "
            + "75 network trouble, 77 not permitted, 78 broken state, 130 interrupted.")
    package static let json = Text("以 JSON 输出结果", "print results as JSON")
    package static let quiet = Text("只输出结果与错误", "print nothing but results and errors")
    package static let stateDirectory = Text(
        "状态目录（默认 /var/lib/trocket/users/UID）", "state directory (default /var/lib/trocket/users/UID)")
    package static let help = Text("显示帮助", "show help")
    package static let version = Text("显示版本", "show the version")

    // MARK: The subscription

    package static let importSummary = Text("导入订阅，替换现有的唯一订阅", "import a subscription in place of the present one")
    package static let importDetails = Text(
        "SOURCE 可以是 https/http 链接、文件、“-”（从标准输入读链接或内容，不留在 shell 历史里）、"
            + "sing-box://import-remote-profile?url=… 或 clash://install-config?url=…。新订阅有误时保留旧的。",
        "SOURCE is an https/http link, a file, “-” (standard input: the link or the content, kept out of shell history), "
            + "sing-box://import-remote-profile?url=… or clash://install-config?url=…. The old subscription stays if the new one is bad."
    )
    package static let dryRun = Text("只报告，不改动任何东西", "report only, change nothing")
    package static let agent = Text("获取时使用的 User-Agent", "the User-Agent to fetch with")
    package static let updateSummary = Text("用保存的链接重新获取订阅", "fetch the saved link again")
    package static let convertSummary = Text(
        "输出转换后的 sing-box 配置，不改动状态", "print the shaped sing-box profile; touches no state")
    package static let reportFile = Text("把转换报告写入 FILE", "write the report of the conversion to FILE")
    package static let migrateOnly = Text(
        "sing-box JSON：只做版本迁移，其余不动", "sing-box JSON: apply the migrations and nothing else")
    package static let linesSummary = Text("列出线路", "list the lines")
    package static let sort = Text(
        "排序：latency、name、order、multiplier", "order: latency, name, order, multiplier")
    package static let allLines = Text("连同不可用的线路与原因", "unusable lines too, with the reason")
    package static let profileSummary = Text("显示保存的配置", "the stored profile")
    package static let profileDetails = Text(
        "--qr 在终端里把订阅链接显示为二维码，供手机扫描。链接等同密码：看到二维码的人就能用你的订阅。"
            + "标准输出不是终端时拒绝，除非加 --force；与 --json 合用时以 0 和 1 输出每个点。",
        "With --qr the subscription's link is shown as a QR code, for a phone. The link is as good as a password: whoever sees "
            + "the code can use your subscription. Refused where standard output is no terminal, unless --force is given; with "
            + "--json the modules are printed as 0 and 1.")
    package static let linkCode = Text("把订阅链接显示为二维码（机密）", "the subscription's link as a QR code (a secret)")
    package static let forceCode = Text("与 --qr 合用：输出不是终端也显示", "with --qr: even where no terminal shows it")
    package static let redact = Text("去掉密码等机密", "without passwords and other secrets")
    package static let ruleSetsSummary = Text("显示规则集", "the rule-sets")
    package static let refresh = Text("重新下载规则集", "download them again")
    package static let forgetDetails = Text(
        "连接时不会删除，请先断开：正在运行的隧道用着它们。",
        "Refused while connected, for the tunnel uses them: disconnect first.")
    package static let forgetSummary = Text("删除订阅、配置、缓存与日志", "remove subscription, profile, caches, logs")
}

extension HelpText {
    // MARK: Lines

    package static let testSummary = Text("测量线路延迟，连接与否均可", "the latency of lines, connected or not")
    package static let testDetails = Text(
        "每条线路都真实请求一次 HTTPS 网址（TROCKET_PROBE_URL 可改）。未连接时用临时内核，失败的线路再查原因；"
            + "已连接时用正在运行的内核，它只区分超时与失败。全部失败时退出码为 75。",
        "Every line really asks for one HTTPS address (TROCKET_PROBE_URL changes it). Disconnected: through a throw-away engine, "
            + "which also tells why a line failed. Connected: through the running engine, which tells only a timeout from a "
            + "failure. Exit status 75 when no line answers.")
    package static let testTimeout = Text(
        "每条线路的时限，默认 5s，最多 30s", "limit for each line; 5s unless given, at most 30s")
    package static let testConcurrency = Text(
        "同时测量的条数，等待已久的不计；默认 256", "tests at a time, those waiting for long not counted; 256 unless given")
    package static let testStream = Text(
        "与 --json 合用：每测完一条就输出一行对象", "with --json: one object a line as each line answers, instead of an array")
    package static let selectSummary = Text("选择线路；已连接时立即切换", "choose a line; switches at once when connected")
    package static let selectDetails = Text(
        "先按完整名称，再按列表序号（3 或 #3），再按唯一的部分名称（不分大小写）。auto 表示由内核选最快的。已有的连接不中断。",
        "By full name first, then by number of the list (3 or #3), then by a unique part of a name (any case). auto lets the "
            + "engine take the fastest. Open connections are not cut.")

    // MARK: The connection

    package static let connectSummary = Text("连接（可同时指定线路）", "connect, with LINE if given")
    package static let connectDetails = Text(
        "连上后用一次真实的 HTTPS 请求验证线路；线路不应答时如实报告，退出码为 1，连接保留。"
            + "用 sudo 运行且系统服务未启动时，会启动同目录的 trocket-tunnel。",
        "Once up, the line is proven by one real HTTPS request; a line that does not answer is reported as that with exit status "
            + "1, and the connection stays. With sudo and no service running, the trocket-tunnel beside this program is started."
    )
    package static let connectMode = Text(
        "rule 国内直连，global 全部走线路", "rule: domestic traffic direct; global: everything through the line")
    package static let killSwitch = Text(
        "断网保护：内核或服务崩溃也不漏出流量；以后的连接沿用，直到 --no-kill-switch",
        "kill switch: nothing leaks even if engine or service crash; remembered for later connects until --no-kill-switch"
    )
    package static let noKillSwitch = Text("关闭断网保护，以后也不用", "no kill switch, now and for later connects")
    package static let connectConfirm = Text(
        "SECONDS 秒内未确认则自动撤销（远程操作时防失联）", "undo unless confirmed within SECONDS (for work over SSH)")
    package static let connectWait = Text("最多等待 SECONDS 秒，默认 30", "wait at most SECONDS; 30 unless given")
    package static let confirmSummary = Text("保留用 --confirm 建立的连接", "keep a connection made with --confirm")
    package static let disconnectSummary = Text("断开，并清理异常退出的残留", "disconnect; also repairs what a crash left")
    package static let modeSummary = Text("查看或切换模式", "show or switch the mode")
    package static let statusSummary = Text("当前状态", "the state of the connection")
    package static let statusDetails = Text(
        "上次验证之后连接、线路或模式变了，或者已过 10 秒，会重新验证一次（最多 5 秒）；--proof 总是验证。瞬时速率只在 --watch 时有。",
        "The line is proven again (at most 5 s) if connection, line or mode changed since the last proof, or after 10 s; "
            + "--proof always does. Rates are known with --watch only.")
    package static let watch = Text("持续显示变化", "go on showing changes")
    package static let network = Text("两侧的网络设置：地址、路由、规则、防护表", "both sides' links, routes, rules and guard table")
    package static let proof = Text("重新验证线路", "prove the line again")
    package static let connectionsSummary = Text("活动连接：主机、命中规则、线路、流量", "live connections: host, rule, line, bytes")
    package static let closeConnection = Text("关闭一个连接，或 all 全部", "close one connection, or all")

    // MARK: Care

    package static let logsSummary = Text("查看日志", "the logs")
    package static let follow = Text("持续输出新内容", "go on with what is added")
    package static let clear = Text("清空本程序的日志", "empty the controller's own log")
    package static let logSource = Text("worker（默认）、engine 或 controller", "worker (default), engine or controller")
    package static let doctorSummary = Text("逐项检查；能连接时退出码为 0", "check everything; exit 0 only if it could connect")
    package static let reportSummary = Text("生成不含任何机密的反馈报告", "everything a bug report needs, every secret removed")
    package static let completionSummary = Text("输出 shell 补全脚本", "a completion script for a shell")
}
