// A real systemd-resolved on a bus of its own, in a namespace of its own, for tests.

import Glibc
import Linux
import NamespaceSupport

/// Starts dbus-daemon and systemd-resolved in the calling thread's network namespace, with their own mounts and processes, so
/// that nothing of the machine's is touched; all of it ends with the object.
final class Resolved {
    /// The address of the bus.
    let address: String
    private let child: ChildProcess

    /// The program: of the system, or of an unpacked package whose folder `TROCKET_TEST_RESOLVED` names.
    static var program: String? {
        let folder = getenv("TROCKET_TEST_RESOLVED").map { String(cString: $0) } ?? ""
        return ["\(folder)/lib/systemd/systemd-resolved", "\(folder)/usr/lib/systemd/systemd-resolved"]
            .first { access($0, X_OK) == 0 }
    }

    /// True where the test can run.
    static var isThere: Bool { program != nil && access("/usr/bin/dbus-daemon", X_OK) == 0 }

    init(in folder: String) throws {
        address = "unix:path=\(folder)/bus"
        let script = """
            mount -t tmpfs tmpfs /run; mkdir -p /run/systemd/resolve /run/dbus; chown 990:990 /run/systemd/resolve
            for file in passwd group; do
                sed '/^systemd-resolve:/d' /etc/$file > /run/$file
                [ $file = passwd ] && rest='990::/:/usr/sbin/nologin' || rest=
                echo "systemd-resolve:x:990:$rest" >> /run/$file
                mount --bind /run/$file /etc/$file
            done
            cat > \(folder)/bus.conf <<'END'
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
              "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth><policy context="default">
            <allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_destination="*"/>
            <allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/>
            <allow receive_type="signal"/>
            </policy></busconfig>
            END
            dbus-daemon --config-file=\(folder)/bus.conf --nofork &
            while [ ! -S \(folder)/bus ]; do sleep 0.05; done
            chmod 0777 \(folder)/bus
            DBUS_SYSTEM_BUS_ADDRESS=\(address) exec \(Self.program ?? "")
            """
        var request = ChildRequest(
            path: "/usr/bin/unshare",
            arguments: ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script])
        request.environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        child = try ChildProcess(starting: request)
    }

    deinit { child.end(graceMilliseconds: 0) }
}
