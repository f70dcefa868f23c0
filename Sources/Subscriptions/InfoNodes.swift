// Telling the entries that only carry a message from the lines (`mapping.md` 7).

/// Recognising pseudo-nodes by their names.
package enum InfoNodes {
    /// What must follow a word for it to count.
    private enum Tail {
        case always
        /// A colon, after spaces.
        case colon
        /// A colon and a number.
        case amount
        /// A colon, `时间`, `日期` or a year.
        case date
        /// A number of days.
        case days
        /// One of these words, after spaces.
        case words([[UInt32]])
        /// One of these words within so many characters.
        case within(Int, [[UInt32]])
        /// A colon before long, with nothing numeric between.
        case colonLater
        /// No further letter.
        case wordEnd
    }

    private struct Rule {
        let word: [UInt32]
        let tail: Tail
    }

    private static let rules: [UInt32: [Rule]] = {
        var table: [UInt32: [Rule]] = [:]
        func add(_ words: [String], _ tail: Tail) {
            for word in words.map(scalars) {
                if let first = word.first { table[first, default: []].append(Rule(word: word, tail: tail)) }
            }
        }
        add(["剩余流量", "已用流量", "总流量", "长期有效", "重置剩余", "重置时间", "失联", "工单", "公告", "续费", "邀请码"], .always)
        add(["http://", "https://", "www.", "t.me/", "更新订阅", "刷新订阅"], .always)
        add(["流量"], .amount)
        add(["套餐", "服务", "账户"], .words([scalars("到期")]))
        add(["到期", "过期", "有效期"], .date)
        add(["剩余"], .days)
        add(["官网", "网址", "网站", "发布页", "地址", "导航", "域名", "客服", "邮箱"], .colon)
        add(["备用", "永久", "最新", "官方"], .words(["网址", "地址", "域名", "网站"].map(scalars)))
        add(["qq", "tg", "电报", "telegram", "官方", "交流"], .words(["群", "频道", "客服"].map(scalars)))
        add(["请"], .within(10, ["更新", "切换", "续费"].map(scalars)))
        add(["不要", "请勿"], .within(2, ["选", "连接", "使用"].map(scalars)))
        add(["traffic", "bandwidth", "data", "remaining"], .colonLater)
        add(["traffic"], .words(["left", "remaining", "used"].map(scalars)))
        add(["expires", "expired", "expiry"], .wordEnd)
        add(["expire"], .date)
        add(["days", "gb"], .words([scalars("left")]))
        add(["reset"], .within(12, [scalars("days")]))
        return table
    }()

    private static let weak: [UInt32: [[UInt32]]] = {
        let words = [
            "套餐", "流量", "剩余", "官网", "订阅", "时间", "版本", "到期", "过期", "有效", "网址", "公告", "续费", "客服", "重置", "expire",
            "traffic", "telegram", "website", "subscribe", "remaining", "gb",
        ].map(scalars)
        return Dictionary(grouping: words.filter { !$0.isEmpty }) { $0[0] }
    }()

    /// True when an entry of this name at this server is a message and no line.
    package static func isInfo(name: String, server: String?) -> Bool {
        let text = FoldedText(name)
        if hasStrongPattern(text) { return true }
        guard let server, isPlaceholder(server) else { return false }
        return text.scalars.indices.contains { at in
            weak[text.scalar(at)]?.contains { text.has($0, at: at) } ?? false
        }
    }

    /// True for an address where no provider runs a line.
    package static func isPlaceholder(_ server: String) -> Bool {
        var host = server.lowercased()
        if host.hasPrefix("127.") || ["0.0.0.0", "localhost", "1.1.1.1", "8.8.8.8", "::1", "::"].contains(host) {
            return true
        }
        if host.hasPrefix("www.") { host = String(host.dropFirst(4)) }
        return [
            "example.com", "example.net", "example.org", "google.com", "baidu.com", "bing.com",
        ].contains(host)
    }

    private static func hasStrongPattern(_ text: FoldedText) -> Bool {
        for at in text.scalars.indices {
            if let rules = rules[text.scalar(at)] {
                for rule in rules where text.has(rule.word, at: at) {
                    if rule.word[0] < 0x80, text.isLetter(at - 1) { continue }
                    if matches(rule.tail, text, at + rule.word.count) { return true }
                }
            }
            if text.isDigit(at), !text.isDigit(at - 1), text.scalar(at - 1) != 0x2E, isUsage(text, at) { return true }
        }
        return false
    }

    private static func matches(_ tail: Tail, _ text: FoldedText, _ end: Int) -> Bool {
        let next = text.skipSpaces(end)
        let isColon = text.scalar(next) == 0x3A
        switch tail {
        case .always: return true
        case .colon: return isColon
        case .amount: return isColon && text.isDigit(text.skipSpaces(next + 1))
        case .date:
            if isColon || text.has(scalars("时间"), at: next) || text.has(scalars("日期"), at: next) { return true }
            return text.has(scalars("20"), at: next) && text.isDigit(next + 2) && text.isDigit(next + 3)
        case .days:
            var at = isColon ? text.skipSpaces(next + 1) : next
            guard text.isDigit(at) else { return false }
            while text.isDigit(at) { at += 1 }
            return text.scalar(text.skipSpaces(at)) == 0x5929
        case .words(let words): return words.contains { text.has($0, at: next) }
        case .within(let reach, let words):
            return (end...end + reach).contains { at in words.contains { text.has($0, at: at) } }
        case .colonLater:
            for at in end..<end + 16 {
                let value = text.scalar(at)
                if value == 0x3A { return true }
                if value == 0 || value == 0x7C || text.isDigit(at) { return false }
            }
            return false
        case .wordEnd: return !text.isLetter(end)
        }
    }

    /// `12.5G | 100G`: used of total.
    private static func isUsage(_ text: FoldedText, _ at: Int) -> Bool {
        guard let first = size(text, at) else { return false }
        let bar = text.skipSpaces(first)
        guard text.scalar(bar) == 0x7C || text.scalar(bar) == 0x2F else { return false }
        let second = text.skipSpaces(bar + 1)
        return text.isDigit(second) && size(text, second) != nil
    }

    /// The end of an amount of data such as `12.5 GB`.
    private static func size(_ text: FoldedText, _ start: Int) -> Int? {
        var at = start
        while text.isDigit(at) || text.scalar(at) == 0x2E { at += 1 }
        at = text.skipSpaces(at)
        guard ["k", "m", "g", "t"].contains(where: { text.scalar(at) == ($0 as Unicode.Scalar).value }) else {
            return nil
        }
        at += 1
        if text.scalar(at) == 0x69 { at += 1 }
        if text.scalar(at) == 0x62 { at += 1 }
        return text.isLetter(at) ? nil : at
    }
}
