// The fields that no provider may set, wherever they stand in a line or a DNS server.

import ImportReport
import JSON

/// Takes out fields that open files, run programs, listen, or bind to things of this machine.
/// Source: <https://sing-box.sagernet.org/configuration/shared/dial/>, `…/shared/tls/`, `…/endpoint/wireguard/`.
enum HostileFields {
    private static let reasons: [String: String] = [
        "bind_interface": "names an interface of this machine",
        "inet4_bind_address": "names an address of this machine",
        "inet6_bind_address": "names an address of this machine",
        "bind_address_no_port": "changes how sockets are bound",
        "routing_mark": "the engine may not set marks, connections would fail",
        "reuse_addr": "changes how sockets are bound",
        "netns": "names a network namespace of this machine",
        "network_strategy": "chooses interfaces of this machine",
        "network_type": "chooses interfaces of this machine",
        "fallback_network_type": "chooses interfaces of this machine",
        "system": "makes an interface on this machine",
        "system_interface": "makes an interface on this machine",
        "interface_name": "makes an interface on this machine",
        "listen": "listens",
        "listen_port": "listens",
        "spoof": "needs a privilege the engine does not have",
        "spoof_method": "needs a privilege the engine does not have",
        "tls_spoof": "needs a privilege the engine does not have",
        "tls_spoof_method": "needs a privilege the engine does not have",
        "kernel_tx": "changes this machine's kernel state",
        "kernel_rx": "changes this machine's kernel state",
        "external_ui": "serves files",
        "data_directory": "opens files",
        "state_directory": "opens files",
    ]

    /// Why a field may not stay; nil when it may.
    private static func reason(_ key: String, atTop: Bool) -> String? {
        // Multipath TCP, not a file.
        if key == "tcp_multi_path" { return nil }
        if ends(key, "_path") || ends(key, "_directory") { return "opens a file of this machine" }
        if key == "name" { return atTop ? "makes an interface on this machine" : nil }
        return reasons[key]
    }

    /// `hasSuffix` by bytes: this runs for every member of every line.
    private static func ends(_ key: String, _ suffix: StaticString) -> Bool {
        let bytes = key.utf8
        let count = suffix.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        return suffix.withUTF8Buffer { buffer in bytes.suffix(count).elementsEqual(buffer) }
    }

    /// Takes the options of a plugin that open files out of their text: `cert` of v2ray-plugin is a path (SIP003: options are
    /// set apart by `;`, a backslash takes the meaning from what follows it).
    static func stripPluginOptions(_ line: inout JSON, place: () -> String, changes: inout [Change]) {
        guard let text = line["plugin_opts"].string, text.utf8.contains(UInt8(ascii: "c")) else { return }
        var options: [String] = [""]
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if scalar == ";", !isEscaped {
                options.append("")
                continue
            }
            options[options.count - 1].unicodeScalars.append(scalar)
            isEscaped = scalar == "\\" && !isEscaped
        }
        let kept = options.filter { option in
            // However its letters are escaped.
            let name = option.unicodeScalars.prefix { $0 != "=" }.filter { $0 != "\\" && $0 != " " }
            return String(String.UnicodeScalarView(name)) != "cert"
        }
        guard kept.count < options.count else { return }
        line["plugin_opts"] = .string(kept.joined(separator: ";"))
        changes.append(
            Change(place: place() + ".plugin_opts", what: "cert removed", reason: "opens a file of this machine"))
    }

    /// Removes every hostile field from an object and from all objects in it, and reports each.
    static func strip(_ value: inout JSON, place: () -> String, changes: inout [Change]) {
        guard isAnythingHostile(value, atTop: true) else { return }
        strip(&value, place: place(), atTop: true, changes: &changes)
    }

    private static func strip(_ value: inout JSON, place: String, atTop: Bool, changes: inout [Change]) {
        guard isAnythingHostile(value, atTop: atTop) else { return }
        switch value {
        case .object(var object):
            object.removeAll { member in
                guard let why = reason(member.key, atTop: atTop) else { return false }
                changes.append(Change(place: place + "." + member.key, what: "removed", reason: why))
                return true
            }
            for member in object.members where member.key != "headers" {
                var inner = member.value
                strip(&inner, place: place + "." + member.key, atTop: false, changes: &changes)
                if inner != member.value { object[member.key] = inner }
            }
            value = .object(object)
        case .array(var items):
            for at in items.indices {
                strip(&items[at], place: "\(place)[\(at)]", atTop: false, changes: &changes)
            }
            value = .array(items)
        default: return
        }
    }

    /// The usual line has nothing hostile: looking first saves building the places and the copies.
    private static func isAnythingHostile(_ value: JSON, atTop: Bool) -> Bool {
        switch value {
        case .object(let object):
            object.members.contains {
                reason($0.key, atTop: atTop) != nil
                    || ($0.key != "headers" && isAnythingHostile($0.value, atTop: false))
            }
        case .array(let items): items.contains { isAnythingHostile($0, atTop: false) }
        default: false
        }
    }
}
