// 1.14: Hysteria v1 names its QUIC options as the other protocols do.

package import ImportReport
package import JSON

/// The old names cross: `recv_window_conn` always was the connection's window, `recv_window` the stream's.
package struct HysteriaWindows: Migration {
    package let name = "hysteria-windows"
    package let since = "1.14"

    package init() {}

    private static let names = [
        ("recv_window_conn", "connection_receive_window"), ("recv_window", "stream_receive_window"),
        ("disable_mtu_discovery", "disable_path_mtu_discovery"),
        ("recv_window_client", "stream_receive_window"), ("max_conn_client", "max_concurrent_streams"),
    ]

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        for section in ["inbounds", "outbounds"] {
            document.editItems([section]) { item, at in
                guard item["type"].string == "hysteria" else { return true }
                for (old, new) in Self.names {
                    guard let value = item.removeMember(old) else { continue }
                    if value.isSet, item[new].isNull { item[new] = value }
                    changes.append(change("\(section)[\(at)].\(old)", "→ \(new)"))
                }
                return true
            }
        }
        return changes
    }
}
