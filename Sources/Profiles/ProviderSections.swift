// The sections of a provider's document that never reach the engine, whatever stands in them.

import ImportReport
import JSON

/// Reports what is left out of a provider's document as a whole.
enum ProviderSections {
    private static let reasons: [(section: String, reason: String)] = [
        ("inbounds", "listens; the tunnel brings its own"),
        ("services", "serves an API or listens"),
        ("experimental", "opens control ports and files; Trocket sets its own"),
        ("log", "writes files; Trocket sets its own"),
        ("ntp", "may set this machine's clock"),
        ("network_namespaces", "changes this machine's namespaces"),
        ("certificate", "changes which authorities are trusted"),
        ("certificate_providers", "keeps files and asks authorities"),
        ("http_clients", "nothing is downloaded at start"),
    ]
    private static let kept: Set<String> = ["outbounds", "endpoints", "dns", "route", "$schema"]

    static func removed(from document: JSON?) -> [Change] {
        guard let document, let object = document.object else { return [] }
        var changes: [Change] = []
        for member in object.members where !kept.contains(member.key) && !isEmpty(member.value) {
            let reason = reasons.first { $0.section == member.key }?.reason ?? "not known"
            changes.append(Change(place: member.key, what: "removed", reason: reason))
        }
        let groups = document["outbounds"].listed.filter {
            ["selector", "urltest"].contains($0["type"].string ?? "")
        }
        if !groups.isEmpty {
            changes.append(
                Change(
                    place: "outbounds", what: "\(groups.count) groups → \(ProfileTag.proxy), \(ProfileTag.auto)",
                    reason: "one selector over all lines"))
        }
        for key in routeSettings where !document["route"][key].isNull && document["route"][key] != false {
            changes.append(
                Change(place: "route." + key, what: "removed", reason: "about this machine, not the provider's"))
        }
        return changes
    }

    private static let routeSettings = [
        "auto_detect_interface", "default_interface", "default_mark", "override_android_vpn", "find_process",
        "find_neighbor", "dhcp_lease_files", "default_network_strategy", "default_network_type",
        "default_fallback_network_type", "default_fallback_delay", "default_http_client", "default_domain_resolver",
    ]

    private static func isEmpty(_ value: JSON) -> Bool {
        switch value {
        case .null: true
        case .array(let items): items.isEmpty
        case .object(let object): object.isEmpty
        default: false
        }
    }
}
