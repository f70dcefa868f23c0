// TCP on 127.0.0.1: finding a free port, and noticing when somebody listens on one.

import CLinux

/// TCP on 127.0.0.1.
package enum Loopback {
    /// A port nobody listens on just now.
    package static func freePort() throws(SystemCallError) -> UInt16 {
        UInt16(truncatingIfNeeded: try check(cl_free_loopback_port(), "looking for a free port on", "127.0.0.1"))
    }

    /// Begins to connect without waiting. The descriptor becomes writable when `outcome` can tell.
    package static func connect(_ port: UInt16) throws(SystemCallError) -> Descriptor {
        Descriptor(owning: try check(cl_connect_loopback(UInt32(port)), "connecting to", "127.0.0.1:\(port)"))
    }

    /// Whether a connection begun earlier was accepted, once its descriptor is writable.
    package static func wasAccepted(_ descriptor: Int32) -> Bool { cl_socket_error(descriptor) == 0 }

    /// The user whose process listens on a port; nil when nobody does. Read from /proc/net/tcp (proc_pid_net(5)), which names
    /// the listening sockets first, be they as many as anybody likes; a busy machine has tens of thousands of others behind
    /// them, which are not read.
    package static func listener(
        on port: UInt16, table path: String = "/proc/thread-self/net/tcp"
    ) throws(SystemCallError) -> UInt32? {
        let digits = String(port, radix: 16, uppercase: true)
        let address = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
        var user: UInt32?
        _ = try KernelFile.firstLine(of: path) { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count > 7, fields[0] != "sl" else { return false }
            guard fields[3] == "0A" else { return true }
            if fields[1] == address { user = UInt32(fields[7]) }
            return user != nil
        }
        return user
    }
}
