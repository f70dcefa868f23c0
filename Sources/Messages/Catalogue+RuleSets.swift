// What became of rule-sets. An import's report has it in English, as it is kept; here it is found again in Chinese.

extension Messages {
    /// The remarks of `RuleSetReport.reason`, `#` standing for a number, a path, a date or the engine's words.
    private static let ruleSetRemarks: [Text] = [
        Text("没有安装 #", "# is not installed"),
        Text("需要下载", "it would have to be downloaded"),
        Text("没有下载", "not downloaded"),
        Text("规则集超过 # 个", "more than # rule-sets"),
        Text("服务器应答 #", "the server answers #"),
        Text("使用 # 的旧副本", "the copy of # is used"),
        Text("改用内置的同名规则集", "the bundled set of that name is used"),
        Text("文件是空的", "the file is empty"),
        Text("收到的是网页，不是规则集", "a web page was sent instead of a rule-set"),
        Text("不是二进制规则集", "not a binary rule-set"),
        Text("解压后超过 256 MiB", "larger than 256 MiB when unpacked"),
        Text("文件损坏或不完整", "the file is damaged or cut off"),
        Text("去掉了 # 个正则表达式", "# regular expressions left out"),
        Text("内嵌规则集没有规则，已拒绝", "an inline rule-set without rules is refused"),
        Text("其中没有可用的规则", "no rule of it can be used"),
        Text("要打开本机的文件", "opens a file of this machine"),
        Text("内核拒绝：#", "the engine refuses it: #"),
    ]

    /// A rule-set's remark in both languages; what is not ours, such as the words of the engine or of curl, as it is.
    package static func ruleSetRemark(_ remark: String) -> Text {
        let chinese = remark.split(separator: "; ").map { part in
            String(part).inChinese(by: ruleSetRemarks) ?? String(part)
        }
        return Text(chinese.joined(separator: "；"), remark)
    }
}
