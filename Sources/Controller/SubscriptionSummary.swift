// The subscription in a few lines: title, quota, expiry, age.

import Linux
import Messages
import Notation
import Store

/// Sentences about the stored subscription.
enum SubscriptionSummary {
    /// Title and age, quota.
    static func texts(_ record: SubscriptionRecord) -> [Text] {
        let age = Figures.duration(seconds: Int(wallClock()) - record.fetchedAt)
        let title = record.title.map { " " + DisplayWidth.cut($0, to: Table.widestName) } ?? ""
        var texts = [
            Text("订阅\(title)", "Subscription\(title)") + Text("（更新于 ", " (updated ") + age + Text("前）", " ago)")
        ]
        if let quota = record.quota { texts.append(text(quota)) }
        return texts
    }

    /// `12.3 GB / 100 GB, expires 2027-01-01`.
    static func text(_ quota: Quota) -> Text {
        let used = Figures.bytes(quota.used)
        var text = Text("流量：已用 \(used)", "Traffic: \(used) used")
        if let total = quota.total { text = text + Text("，共 \(Figures.bytes(total))", " of \(Figures.bytes(total))") }
        if let expire = quota.expire { text = text + Text("，\(Date.day(expire)) 到期", ", expires \(Date.day(expire))") }
        return text
    }
}
