// Headers and notes of providers in all their variants.

import Store
import Testing

@testable import Importing

@Suite struct ProviderDetailsTests {
    @Test(arguments: [
        (
            "upload=1; download=2; total=3; expire=1798761600",
            Quota(upload: 1, download: 2, total: 3, expire: 1_798_761_600)
        ),
        (
            "upload=1;download=2;total=3;expire=1798761600;",
            Quota(upload: 1, download: 2, total: 3, expire: 1_798_761_600)
        ),
        ("Upload = 1 , Download = 2", Quota(upload: 1, download: 2)),
        ("upload=1.9; download=2.5e3; total=1e12", Quota(upload: 1, download: 2500, total: 1_000_000_000_000)),
        ("upload=-5; download=7; total=100; expire=0", Quota(upload: 0, download: 7, total: 100)),
        ("download=7; total=0; expire=", Quota(download: 7)),
        (
            "upload=0; download=0; total=10; expire=1798761600000",
            Quota(upload: 0, download: 0, total: 10, expire: 1_798_761_600)
        ),
        ("total=10; expire=2027-01-01", Quota(total: 10, expire: 1_798_761_600)),
        ("total=99999999999999999999999; download=5", Quota(download: 5)),
        ("total=nan; download=inf; upload=3", Quota(upload: 3)),
    ])
    func quotaHeaders(_ header: String, _ quota: Quota) {
        #expect(ProviderDetails.quota(header) == quota)
    }

    @Test(arguments: ["", "hello", "=;=;", "total=; expire=never", "total=-1"])
    func headersThatSayNothing(_ header: String) {
        #expect(ProviderDetails.quota(header) == nil)
    }

    @Test func titlesAndIntervals() {
        #expect(ProviderDetails.plainTitle("base64:5oiR55qE5py65Zy6") == "我的机场")
        #expect(ProviderDetails.plainTitle("base64:5oiR55qE5py65Zy6==") == "我的机场")
        #expect(ProviderDetails.plainTitle("My%20VPN") == "My VPN")
        #expect(ProviderDetails.plainTitle(" \u{1b}[31mred\u{7}\u{202e} ") == "[31mred")
        #expect(ProviderDetails.plainTitle("base64:!!!") == nil)
        let disposition = "attachment; filename=\"x.yaml\"; filename*=UTF-8''%E6%88%91%E7%9A%84.yaml"
        #expect(ProviderDetails.fileName(disposition) == "我的")
        #expect(ProviderDetails.fileName("attachment; filename=panel.yml") == "panel")
        let details = ProviderDetails { name in
            ["profile-update-interval": "1.5", "x-subscription-userinfo": "total=5"][name]
        }
        #expect(details == ProviderDetails(quota: Quota(total: 5), title: nil, intervalHours: 2))
        #expect(ProviderDetails { _ in "-3" }.intervalHours == nil)
    }

    @Test func firstAnswerThatKnowsIsTaken() {
        let first = ProviderDetails(quota: nil, title: "a", intervalHours: nil)
        let second = ProviderDetails(quota: Quota(total: 1), title: "b", intervalHours: 6)
        #expect(first.completed(by: second) == ProviderDetails(quota: Quota(total: 1), title: "a", intervalHours: 6))
    }

    @Test func notesTellQuotaWhereNoHeaderDoes() {
        let gigabyte: Int64 = 1 << 30
        #expect(QuotaNotes.read(["剩余流量：88.5 GB"]) == Quota(download: 0, total: 88 * gigabyte + gigabyte / 2))
        #expect(
            QuotaNotes.read(["已用流量 2G", "总流量：10 GB", "套餐到期：2027-01-01"])
                == Quota(download: 2 * gigabyte, total: 10 * gigabyte, expire: 1_798_761_600))
        #expect(
            QuotaNotes.read(["Traffic: 5 GB / 100 GB", "Expire: 2027-1-1"])
                == Quota(download: 5 * gigabyte, total: 100 * gigabyte, expire: 1_798_761_600))
        #expect(QuotaNotes.read(["剩余流量：4 GB", "总流量：10 GB"]) == Quota(download: 6 * gigabyte, total: 10 * gigabyte))
        #expect(QuotaNotes.read(["官网：www.example.org", "距离下次重置剩余：11 天", "套餐到期：长期有效"]) == nil)
    }
}
