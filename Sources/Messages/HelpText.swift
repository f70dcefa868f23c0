// The sentences of the help pages.

/// One summary a verb, one sentence an option.
package enum HelpText {
    package static let program = Text(
        "Trocket：一个订阅，选一条线路，整机上网。", "Trocket: one subscription, one line, the whole machine connected.")
    package static let epilogue = Text(
        "不带命令运行即进入全屏界面。LINE 可以是完整名称、唯一的部分名称或列表序号。"
            + "退出码：0 成功，1 失败，2 未连接，64 用法，65 数据有误，69 服务或内核不可用，75 网络暂时不通，77 无权限，78 状态损坏。",
        "Without a verb the single screen opens. LINE is a full name, a unique part of one, or a number of the list. "
            + "Exit status: 0 done, 1 failed, 2 not connected, 64 usage, 65 bad data, 69 worker or engine unusable, "
            + "75 network trouble, 77 not permitted, 78 broken state.")
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
    package static let redact = Text("去掉密码等机密", "without passwords and other secrets")
    package static let ruleSetsSummary = Text("显示规则集", "the rule-sets")
    package static let refresh = Text("重新下载规则集", "download them again")
    package static let forgetSummary = Text("删除订阅、配置、缓存与日志", "remove subscription, profile, caches, logs")
}
