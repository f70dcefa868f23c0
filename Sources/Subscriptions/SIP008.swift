// SIP008: Shadowsocks servers as JSON (<https://shadowsocks.org/doc/sip008.html>).

internal import ImportReport
internal import JSON
internal import YAML

/// Reading SIP008.
enum SIP008 {
    /// The entries of a list of servers.
    static func entries(_ servers: [JSON]) -> [Entry] {
        var out: [Entry] = []
        for (index, server) in servers.enumerated() {
            let place = "entry \(index + 1)"
            guard server.object != nil else {
                out.append(Entry(.notAMap, place))
                continue
            }
            var fields = Fields()
            fields.set("type", "ss")
            for (key, target) in [
                ("remarks", "name"), ("server", "server"), ("server_port", "port"), ("method", "cipher"),
                ("password", "password"),
            ] { fields.set(target, text(server[key])) }
            if fields.node("name") == nil { fields.set("name", text(server["name"])) }
            do throws(Fault) {
                if let plugin = text(server["plugin"]), !plugin.isEmpty {
                    let options = text(server["plugin_opts"]) ?? ""
                    try ShadowsocksLink.plugin(options.isEmpty ? plugin : plugin + ";" + options, into: &fields)
                }
                out.append(Entry(.node(fields), place))
            } catch {
                let name = Names.cleaned(text(server["remarks"]) ?? "")
                out.append(
                    Entry(
                        .dropped(DroppedLine(name: name, type: "ss", reason: error.reason, field: error.field)), place))
            }
        }
        return out
    }

    private static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .number(let text): text
        default: nil
        }
    }
}
