// Why the state directory cannot be used, in a code, a sentence and what to do about it.

package import Linux
package import Messages

/// A failure of the state directory. Its texts name files, never what is in them.
package struct StoreError: Error, Hashable, Sendable {
    /// Stable codes other programs rely on.
    package enum Code: String, Sendable {
        /// The directory is not there.
        case missing = "state-missing"
        /// The directory is there and cannot be read or written.
        case unusable = "state-unwritable"
        /// A file is damaged, foreign, or no plain file.
        case corrupt = "state-corrupt"
        /// The files do not belong together.
        case torn = "state-torn"
        /// Nothing has been imported yet.
        case noSubscription = "no-subscription"
    }

    /// The stable name.
    package let code: Code
    /// One sentence.
    package let message: Text
    /// What the user can do.
    package let remedy: Text

    package init(_ code: Code, _ message: Text, remedy: Text) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// The directory is not there.
    static func missing(_ path: String) -> StoreError {
        StoreError(
            .missing,
            Text("状态目录 \(path) 不存在。", "The state directory \(path) does not exist."),
            remedy: Text(
                "请运行 sudo adduser $USER trocket，再运行 newgrp trocket：目录随即自动建好；若仍没有，运行 "
                    + "sudo systemctl restart trocket-tunnel。也可用 --state-dir 指定别的目录。",
                "Run: sudo adduser $USER trocket, then: newgrp trocket; the directory is then made by itself, else by: "
                    + "sudo systemctl restart trocket-tunnel. Or name another one with --state-dir."))
    }

    /// The directory or a file in it cannot be used.
    static func unusable(_ path: String, _ reason: String) -> StoreError {
        StoreError(
            .unusable,
            Text("无法使用状态目录 \(path)：\(reason)。", "The state directory \(path) cannot be used: \(reason)."),
            remedy: Text(
                "检查目录的所有者、权限和剩余空间，或用 --state-dir 指定别的目录。",
                "Check the directory's owner, mode and free space, or name another one with --state-dir."))
    }

    /// A file is damaged or not ours; it is left as it is.
    static func corrupt(_ path: String, _ problem: String) -> StoreError {
        StoreError(
            .corrupt,
            Text(
                "状态文件 \(path) 已损坏或不可信：\(problem)。",
                "The state file \(path) is damaged or not to be trusted: \(problem)."),
            remedy: Text(
                "文件没有被改动。把它移走，或运行 `trocket-controller forget` 清除，然后重新导入订阅。",
                "It was left as it is. Move it away, or run `trocket-controller forget`, then import the subscription again."
            ))
    }

    /// profile.json is not the one subscription.json was written with.
    static func torn(_ path: String) -> StoreError {
        StoreError(
            .torn,
            Text(
                "\(path)/profile.json 与 subscription.json 不是同一次导入的结果。",
                "\(path)/profile.json and subscription.json do not come from the same import."),
            remedy: Text("运行 `trocket-controller update` 重新生成。", "Run `trocket-controller update` to make them anew."))
    }

    /// Nothing has been imported.
    package static let noSubscription = StoreError(
        .noSubscription,
        Text("还没有导入订阅。", "No subscription has been imported."),
        remedy: Text("运行 `trocket-controller import 链接`。", "Run `trocket-controller import LINK`."))
}

extension StoreError {
    /// A system call on the directory or something in it failed.
    package static func cannotUse(_ path: String, _ error: SystemCallError) -> StoreError {
        .unusable(path, error.description)
    }
}
