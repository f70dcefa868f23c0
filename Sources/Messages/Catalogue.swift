// The catalogue: sentences about failures and what to do about them. Other files of this module add to it by subject.

/// Every sentence the product says. Each is a property or a function, so that none can lack a language or an argument.
package enum Messages {
    // MARK: The system

    /// What is done with files, by the words of `SystemCallError`; others are rare enough to stay as they are.
    private static let operations: [Text] = [
        Text("打开", "opening"), Text("读取", "reading"), Text("读取", "reading from"), Text("写入", "writing to"),
        Text("替换", "replacing"), Text("重命名", "renaming"), Text("移动", "moving"), Text("删除", "deleting"),
        Text("锁定", "locking"), Text("列出", "listing"), Text("写入磁盘", "flushing"), Text("设置权限", "setting the mode of"),
        Text("新建目录", "making directory"), Text("新建目录", "making a directory in"),
    ]

    /// A system call failed.
    package static func system(_ operation: String, _ subject: String, _ reason: Text) -> Text {
        let doing = operation.inChinese(by: operations) ?? operation
        return Text("系统调用失败（\(doing) \(subject)）：", "\(operation) \(subject) failed: ") + reason + Text("。", ".")
    }
    package static func permissionRemedy(_ subject: String) -> Text {
        Text(
            "请检查 \(subject) 的权限；Trocket 的目录由安装程序建立，用户须属于 trocket 组。",
            "Check the permissions of \(subject); the installer makes Trocket's directories, and you must be in group trocket."
        )
    }
    package static func outputLost(_ reason: Text) -> Text {
        Text("结果没有写完：", "The result could not be written: ") + reason + Text("。", ".")
    }
    package static let noSpaceRemedy = Text("请先腾出磁盘空间。", "Free some disk space first.")
    package static let reportRemedy = Text(
        "若再次发生，请附上 trocket-controller report 的输出反馈。",
        "If it happens again, file a report with the output of: trocket-controller report")
    /// What is wrong with a file, by the words of `UntrustedFile`.
    private static let fileProblems: [Text] = [
        Text("是符号链接", "is a symbolic link"), Text("不是普通文件", "is not a regular file"),
        Text("属于用户 #，而不是用户 #", "belongs to user #, not to user #"), Text("大于 # 字节", "is larger than # bytes"),
    ]
    package static func untrustedFile(_ path: String, _ problem: String) -> Text {
        Text(
            "文件 \(path) 不可信：\(problem.inChinese(by: fileProblems) ?? problem)。",
            "The file \(path) cannot be trusted: it \(problem).")
    }
    package static func untrustedFileRemedy(_ path: String) -> Text {
        Text("请查看 \(path)，确认无误后移走它再试。", "Look at \(path); move it away and try again.")
    }

    // MARK: Transfers

    package static func transfer(_ server: String, _ detail: Text) -> Text {
        let place = server.isEmpty ? "" : server + ": "
        return Text("网络请求失败：\(place)", "The request failed: \(place)") + detail + Text("。", ".")
    }
    package static let networkRemedy = Text("请检查网络与链接后重试。", "Check the network and the link, then try again.")

    // MARK: The engine

    package static func engineMissing(_ path: String) -> Text {
        Text("找不到代理内核 sing-box（\(path)）。", "The engine sing-box was not found (\(path)).")
    }
    package static let engineMissingRemedy = Text(
        "请安装 Trocket，或用 TROCKET_ENGINE 指定 sing-box 1.14 以上版本的路径。",
        "Install Trocket, or set TROCKET_ENGINE to the path of a sing-box 1.14 or newer.")
    package static func engineNotStarted(_ path: String, _ reason: Text) -> Text {
        Text("内核 \(path) 无法启动：", "The engine \(path) cannot be started: ") + reason + Text("。", ".")
    }
    package static func engineUnreadable(_ path: String) -> Text {
        Text("\(path) 不是可用的 sing-box。", "\(path) is not a usable sing-box.")
    }
    package static func engineTooOld(_ path: String, _ version: String, _ minimum: String) -> Text {
        Text(
            "内核 \(path) 的版本 \(version) 太旧，需要 \(minimum) 以上。",
            "The engine \(path) is version \(version); \(minimum) or newer is needed.")
    }
    package static func engineTooOldRemedy(_ minimum: String) -> Text {
        Text(
            "请把 sing-box 升级到 \(minimum) 以上，或用 TROCKET_ENGINE 指定新版本。",
            "Upgrade sing-box to \(minimum) or newer, or set TROCKET_ENGINE to a newer one.")
    }
    package static func engineRejected(_ words: String) -> Text {
        Text("内核不接受这份配置：\(words)。", "The engine refuses the configuration: \(words).")
    }
    package static let engineRejectedRemedy = Text(
        "请更新订阅；仍然如此请反馈给机场。", "Update the subscription; if it stays so, tell the provider.")
    package static func engineEnded(_ words: String) -> Text {
        Text("内核意外退出：\(words)。", "The engine ended unexpectedly: \(words).")
    }
    package static func engineTimeout(_ what: String) -> Text {
        Text("内核没有及时响应（\(what)）。", "The engine did not answer in time (\(what)).")
    }
    package static func apiUnreachable(_ detail: String) -> Text {
        Text("连不上内核的控制接口：\(detail)。", "The engine's control interface cannot be reached: \(detail).")
    }
    package static func apiRefused(_ status: Int, _ message: String) -> Text {
        Text("内核拒绝了请求（\(status)）：\(message)。", "The engine refused the request (\(status)): \(message).")
    }
    package static let reconnectRemedy = Text(
        "请运行 trocket-controller status 查看状态，必要时重新连接。",
        "See trocket-controller status; reconnect if needed.")
}
