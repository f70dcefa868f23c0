// What a tunnel does not cover: the worker's word, and what this machine shows.

import Commands
import Linux
import Messages

extension StatusReport {
    /// Code and sentence of everything that is not covered. Empty while there is no tunnel.
    var exceptions: [(code: String, text: Text)] {
        guard !notCovered.isEmpty else { return [] }
        let ports = UDPServers.ports
        return notCovered.map { ($0, Messages.notCovered[$0] ?? Text(verbatim: $0)) }
            + (ports.isEmpty ? [] : [("udp-servers", Messages.udpServers(ports.map(Int.init)))])
    }
}
