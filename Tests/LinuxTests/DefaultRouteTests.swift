// Default routes in the kernel's own tables.

import Testing

@testable import Linux

@Suite struct DefaultRouteTests {
    private let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    private let zero = String(repeating: "0", count: 32)

    private func six(_ flags: String, _ device: String, destination: String? = nil, length: String = "00") -> String {
        "\(destination ?? zero) \(length) \(zero) 00 \(zero) 00000400 00000001 00000000 \(flags)     \(device)\n"
    }

    @Test func findsTheWayOut() {
        #expect(DefaultRoute.isInIPv4Table(head + "eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"))
        #expect(DefaultRoute.isInIPv6Table(six("00000003", "wlan0")))
    }

    @Test func aNetworkNearbyIsNoWayOut() {
        #expect(!DefaultRoute.isInIPv4Table(head))
        #expect(!DefaultRoute.isInIPv4Table(head + "eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"))
        #expect(!DefaultRoute.isInIPv4Table(head + "trocket0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"))
        // What the kernel keeps on the loopback to refuse with, and a prefix.
        #expect(!DefaultRoute.isInIPv6Table(six("00200200", "lo")))
        #expect(!DefaultRoute.isInIPv6Table(six("00000201", "eth0")))
        #expect(!DefaultRoute.isInIPv6Table(six("00000001", "eth0", length: "40")))
    }
}
