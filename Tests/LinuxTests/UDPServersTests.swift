// Telling UDP servers on every address from other sockets, by the kernel's tables.

import Linux
import Testing

@Suite struct UDPServersTests {
    private let head =
        "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private func row(_ local: String, _ peer: String, state: String = "07") -> String {
        "  123: \(local) \(peer) \(state) 00000000:00000000 00:00000000 00000000     0        0 20011 2 0000 0\n"
    }

    @Test func theyAreBoundToEveryAddressAndHaveNoPeer() {
        let nobody = "00000000:0000"
        let four =
            head + row("00000000:0202", nobody) + row("00000000:007B", nobody)
            // Of one address, with a peer, with a port of the kernel's choice.
            + row("0100007F:0035", nobody) + row("00000000:0203", "01010101:0035", state: "01")
            + row("00000000:9C40", nobody)
            // DHCP and mDNS.
            + row("00000000:0044", nobody) + row("00000000:14E9", nobody)
        let every = String(repeating: "0", count: 32)
        let six = head + row(every + ":0202", every + ":0000") + row(every + ":CA6C", every + ":0000")
        #expect(UDPServers.ports(in: [four, six], given: "32768\t60999\n") == [123, 514])
        #expect(UDPServers.ports(in: [four, six], given: "60000\t60999\n") == [123, 514, 40_000, 51_820])
        #expect(UDPServers.ports(in: [four], given: "") == [123, 514])
        #expect(UDPServers.ports(in: ["", head, head + "torn"], given: "") == [])
    }
}
