// Why an import failed, in a code, a sentence in two languages and what to do.

package import Messages
package import Subscriptions
package import Transfer

/// A failed import. The old subscription is still in force. Texts show at most the host of a link.
package struct ImportError: Error, Hashable, Sendable {
    /// The codes other programs rely on.
    package enum Code: String, Sendable, CaseIterable {
        case notASubscription = "not-a-subscription"
        case empty
        case noLines = "no-lines"
        case badYAML = "bad-yaml"
        case badJSON = "bad-json"
        case http
        case fetch
        case tls
        case timeout
        case tooLarge = "too-large"
        case tooManyRedirects = "too-many-redirects"
        case providerError = "provider-error"
        case kernelRejected = "kernel-rejected"
        /// What was named is no link and no readable file.
        case badSource = "bad-source"
    }

    /// The stable name.
    package let code: Code
    /// One sentence.
    package let message: Text
    /// What the user can do.
    package let remedy: Text
    /// The HTTP status, where there was one.
    package let status: Int?

    package init(_ code: Code, _ message: Text, remedy: Text, status: Int? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.status = status
    }

    /// True when trying again later may help.
    package var isTemporary: Bool {
        switch code {
        case .fetch, .tls, .timeout: true
        case .http: status.map { $0 >= 500 || $0 == 429 || $0 == 408 } ?? true
        default: false
        }
    }
}

extension ImportError {
    private static let kept = Text("原来的订阅保持不变。", "The previous subscription stays as it was.")

    /// A transfer that failed.
    package init(_ error: TransferError) {
        let network = Text("检查网络和链接后重试。", "Check the network and the link, then try again. ") + Self.kept
        let code: Code
        var remedy = network
        let chinese: String
        switch error.code {
        case .http:
            code = .http
            chinese = "服务器返回状态 \(error.status ?? 0)"
            remedy =
                Text("确认链接没有失效或到期，向服务商要新的链接。", "Make sure the link has not expired; ask the provider for a new one. ")
                + Self.kept
        case .fetch, .cancelled:
            code = .fetch
            chinese = Self.chinese(error)
        case .tls:
            code = .tls
            chinese = "TLS 证书或握手有问题（\(error.detail)）"
            remedy =
                Text(
                    "可能有人在中途冒充服务器，也可能是本机时间或证书不对。",
                    "Someone may be posing as the server, or this machine's clock or authorities are wrong. ")
                + Self.kept
        case .timeout:
            code = .timeout
            chinese = "在限定时间内没有完整应答（\(error.detail)）"
        case .tooLarge:
            code = .tooLarge
            chinese = "应答太大（\(error.detail)）"
            remedy = Self.kept
        case .tooManyRedirects:
            code = .tooManyRedirects
            chinese = "重定向次数太多"
            remedy =
                Text("链接在兜圈子，向服务商要新的链接。", "The link leads in circles; ask the provider for a new one. ") + Self.kept
        }
        let place = error.server.isEmpty ? Text("", "") : Text("\(error.server):", "\(error.server): ")
        self.init(
            code,
            Text("无法取得订阅。", "The subscription cannot be fetched. ") + place + Text("\(chinese)。", "\(error.detail)."),
            remedy: remedy, status: error.status)
    }

    /// What went wrong, in Chinese where that is known.
    package static func chinese(_ error: TransferError) -> String {
        switch error.cause {
        case .address: "地址不是网址"
        case .dns: "域名无法解析"
        case .refused: "连接被拒绝"
        case .unreachable: "连接不上（\(error.detail)）"
        case .closed: "连接中断"
        case .proxy: "环境变量里的代理不可用（\(error.detail)）"
        case .encoding: "压缩的内容已损坏"
        case .redirect: "重定向到不安全或无效的地址"
        default: error.detail
        }
    }

    /// A text that is no subscription.
    package init(_ error: SubscriptionError) {
        let said = error.texts.isEmpty ? "" : ":" + error.texts.prefix(5).joined(separator: " / ")
        let place = error.line.map { Text("（第 \($0) 行）", " (line \($0))") } ?? Text("", "")
        let chinese: String
        let code: Code
        var remedy = Text("确认链接是订阅链接。", "Make sure that this is the link of a subscription. ") + Self.kept
        switch error.code {
        case .notASubscription:
            code = .notASubscription
            chinese = "得到的内容不是订阅\(said)"
        case .empty:
            code = .empty
            chinese = "得到的内容是空的"
        case .noLines:
            code = .noLines
            chinese = "订阅里没有可用的线路\(said)"
            remedy =
                Text(
                    "套餐可能已到期或流量用尽，登录服务商网站查看。",
                    "The plan may have ended or its traffic be used up; look at the provider's site. ")
                + Self.kept
        case .badYAML:
            code = .badYAML
            chinese = "内容不是可以读懂的 YAML"
        case .badJSON:
            code = .badJSON
            chinese = "内容不是可以读懂的 JSON"
        case .tooLarge:
            code = .tooLarge
            chinese = "内容超过限制"
        case .providerError:
            code = .providerError
            chinese = "服务商返回错误\(said)"
            remedy = Text("按服务商的提示处理。", "Do as the provider says. ") + Self.kept
        }
        self.init(
            code,
            Text("\(chinese)", error.detail) + place + (error.detail.hasSuffix(".") ? Text("。", "") : Text("。", ".")),
            remedy: remedy)
    }

    /// The engine takes the subscription in no form.
    static func kernelRejected(_ words: String) -> ImportError {
        ImportError(
            .kernelRejected,
            Text("内核拒绝了转换结果：\(words)。", "The engine refuses what the subscription was converted to: \(words)."),
            remedy: Text(
                "请附上 `trocket-controller report` 的输出反馈此问题。",
                "Report this with the output of `trocket-controller report`. ")
                + kept)
    }

    /// What was named cannot be read.
    package static func badSource(_ chinese: String, _ english: String) -> ImportError {
        ImportError(
            .badSource, Text(chinese, english),
            remedy: Text(
                "给出 http(s) 链接、文件名，或用 - 从标准输入读取。",
                "Name an http(s) link or a file, or use - to read standard input. ") + kept)
    }
}
