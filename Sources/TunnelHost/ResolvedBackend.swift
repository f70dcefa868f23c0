// systemd-resolved, told over D-Bus by which link to ask (org.freedesktop.resolve1(5)).

internal import Addressing
internal import CSystemd
internal import Linux

/// systemd-resolved on the system bus. Each use opens the bus anew: it happens seldom, and a connection kept would wake
/// the worker.
final class ResolvedBackend: DNSBackend {
    private let address: String

    /// How long the bus and every call are waited for, in microseconds. The worker does nothing else meanwhile; polkit asks
    /// nobody, for a service has no agent.
    private let timeout: UInt64
    /// Where the system bus listens (D-Bus specification, "System message bus").
    static let systemBus = "unix:path=/run/dbus/system_bus_socket"

    /// `resolv.conf` in it is replaced at every change of a link's servers and domains (systemd-resolved.service(8)).
    let directory = "/run/systemd/resolve"

    init(bus address: String = ResolvedBackend.systemBus, timeout: UInt64 = 1_000_000) {
        self.address = address
        self.timeout = timeout
    }

    func isPresent() throws(DNSError) -> Bool {
        var bus: OpaquePointer?
        var problem = Problem()
        let opened = csd_open(address, timeout, &bus, &problem.text, problem.text.count)
        // Without library or bus there is no resolved to be told. A bus that does not answer says nothing of resolved.
        if [Errno.noSuchFile, .connectionRefused].contains(Errno(rawValue: -opened)) { return false }
        guard opened == 0, let bus else { throw DNSError(operation: Self.asking, text: problem.description) }
        defer { csd_close(bus) }
        let result = csd_has_resolved(bus, &problem.text, problem.text.count)
        guard result >= 0 else { throw DNSError(operation: Self.asking, text: problem.description) }
        return result > 0
    }

    func secure(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) {
        let raw = servers.map(csd_server.init)
        try call("setting the link's DNS") { bus, text, size in
            csd_secure_link(bus, link.rawValue, raw, Int32(raw.count), text, size)
        }
        guard try isSecured(link, servers: servers) else {
            throw DNSError(operation: "reading back the link's DNS", text: "it did not keep what it was told")
        }
    }

    func isSecured(_ link: InterfaceIndex, servers: [IPAddress]) throws(DNSError) -> Bool {
        var state = csd_link_state()
        try call("reading the link's DNS") { bus, text, size in
            csd_read_link(bus, link.rawValue, &state, text, size)
        }
        return state.takes_every_domain != 0 && state.is_default_route != 0 && state.is_plain != 0
            && Set(state.addresses) == Set(servers)
    }

    func revert(_ link: InterfaceIndex) throws(DNSError) {
        try call("reverting the link's DNS") { bus, text, size in csd_revert_link(bus, link.rawValue, text, size) }
    }

    private static let asking = "asking the bus for systemd-resolved"

    private struct Problem {
        var text = [CChar](repeating: 0, count: 256)
        var description: String {
            String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    private func call(
        _ operation: String, _ body: (OpaquePointer, UnsafeMutablePointer<CChar>?, Int) -> Int32
    ) throws(DNSError) {
        var bus: OpaquePointer?
        var problem = Problem()
        var result = csd_open(address, timeout, &bus, &problem.text, problem.text.count)
        if result == 0, let bus {
            result = problem.text.withUnsafeMutableBufferPointer { body(bus, $0.baseAddress, $0.count) }
            csd_close(bus)
        }
        guard result == 0 else { throw DNSError(operation: operation, text: problem.description) }
    }
}

extension csd_server {
    fileprivate init(_ address: IPAddress) {
        self.init()
        family = address.family == .ipv4 ? 2 : 10
        withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: address.bytes) }
    }

    fileprivate var address: IPAddress? {
        withUnsafeBytes(of: bytes) { IPAddress(bytes: Array($0.prefix(family == 2 ? 4 : 16))) }
    }
}

extension csd_link_state {
    fileprivate var addresses: [IPAddress] {
        withUnsafeBytes(of: servers) { raw in
            Array(raw.bindMemory(to: csd_server.self).prefix(Int(server_count))).compactMap(\.address)
        }
    }
}
