// Sentences about the worker: on the way to it, and what it reports.

extension Messages {
    package static func workerNotRunning(_ path: String) -> Text {
        Text("Trocket 的系统服务没有运行（\(path) 无人应答）。", "Trocket's system service is not running (nobody answers at \(path)).")
    }
    package static let workerNotRunningRemedy = Text(
        "请运行 sudo systemctl start trocket-tunnel.socket；没有 systemd 时用 sudo trocket-controller connect。",
        "Run: sudo systemctl start trocket-tunnel.socket (without systemd: sudo trocket-controller connect)")
    package static func notInGroup(_ path: String) -> Text {
        Text("没有权限使用 \(path)。", "You may not use \(path).")
    }
    package static let notInGroupRemedy = Text(
        "请把自己加入 trocket 组：sudo adduser $USER trocket，再运行 newgrp trocket（或重新登录）。",
        "Join group trocket: sudo adduser $USER trocket, then: newgrp trocket (or log in again).")
    package static func foreignWorker(_ path: String, _ user: UInt32) -> Text {
        Text(
            "\(path) 上应答的不是 Trocket 的服务，而是用户 \(user) 的程序。",
            "What answers at \(path) is a program of user \(user), not Trocket's service.")
    }
    package static let foreignWorkerRemedy = Text(
        "请检查 TROCKET_SOCKET 与 /run/trocket 的所有者。", "Check TROCKET_SOCKET and the owner of /run/trocket.")
    package static func workerTimeout(_ call: String) -> Text {
        Text("系统服务没有及时回答（\(call)）。", "The service did not answer in time (\(call)).")
    }
    package static let workerLogRemedy = Text(
        "请查看 trocket-controller logs --source worker。", "See: trocket-controller logs --source worker")
    package static func workerUnreadable(_ call: String) -> Text {
        Text("看不懂系统服务的回答（\(call)）。", "The service's answer cannot be understood (\(call)).")
    }
    package static let sameReleaseRemedy = Text(
        "请安装同一版本的 trocket-controller 与 trocket-tunnel。",
        "Install trocket-controller and trocket-tunnel of the same release.")
    package static let workerGone = Text("系统服务中断了连接。", "The service closed the connection.")
    package static let workerGoneRemedy = Text(
        "请稍后再试；它会自己重新启动，trocket-controller disconnect 可清理残留。",
        "Try again in a moment: it restarts by itself; trocket-controller disconnect repairs what may be left.")

    /// The worker's failures by code: what happened and what to do. The worker says it in English, mostly with more details;
    /// where it always says the same, this is that.
    package static let workerFailures: [String: (message: Text, remedy: Text)] = [
        "bad-request": (Text("系统服务看不懂这个请求。", "The service does not understand the request."), sameReleaseRemedy),
        "unknown-call": (Text("系统服务不认识这个请求。", "The service does not know the call."), sameReleaseRemedy),
        "protocol-version": (
            Text("系统服务与本程序的协议版本不同。", "The service speaks another version of the protocol."), sameReleaseRemedy
        ),
        "too-large": (Text("请求太大。", "The request is too large."), sameReleaseRemedy),
        "not-permitted": (Text("没有权限使用系统服务。", "This user may not use Trocket's worker."), notInGroupRemedy),
        "not-owner": (
            Text("当前连接属于另一个用户。", "The tunnel belongs to another user of this machine."),
            Text(
                "请该用户断开，或由 root 运行 trocket-controller disconnect。",
                "Ask that user to disconnect, or disconnect as root.")
        ),
        "busy": (
            Text("系统服务正在连接或断开。", "The service is connecting or disconnecting."),
            Text("请稍后再试。", "Try again in a moment.")
        ),
        "too-many-clients": (
            Text("连到系统服务的程序太多。", "Too many programs use the service."), Text("请关掉一些再试。", "Close some of them.")
        ),
        "not-connected": (
            Text("现在没有连接。", "There is no connection."),
            Text("请先运行 trocket-controller connect。", "Run first: trocket-controller connect")
        ),
        "nothing-to-confirm": (
            Text("当前连接不需要确认，会保持下去。", "The connection does not wait for a confirmation; it stays."),
            Text("", "")
        ),
        "stopping": (
            Text("系统服务正在停止。", "The service is stopping."), Text("请稍后再试。", "Try again in a moment.")
        ),
        "no-log": (Text("这份日志读不到。", "That log cannot be read."), Text("请稍后再试。", "Try again in a moment.")),
        "no-profile": (
            Text("还没有可用的配置。", "There is no profile yet."),
            Text(
                "请先运行 trocket-controller import 链接。",
                "Import a subscription first: trocket-controller import LINK.")
        ),
        "bad-profile": (
            Text("保存的配置不可信或无法读取。", "The stored profile cannot be trusted or read."),
            Text("请运行 trocket-controller update 重新生成。", "Make it anew with: trocket-controller update")
        ),
        "engine-missing": (
            Text("系统服务找不到可用的代理内核。", "The service cannot find the engine."),
            Text("请重新安装 Trocket。", "Install Trocket again.")
        ),
        "engine-exited": (Text("代理内核退出了。", "The engine ended."), engineLogRemedy),
        "engine-timeout": (Text("代理内核没有及时就绪。", "The engine did not get ready in time."), engineLogRemedy),
        "untrusted-sandbox": (
            Text("内核的沙箱不是它自己的，已拒绝。", "The engine's sandbox is not its own."),
            Text("请使用未经改动的 sing-box 1.14 以上版本。", "Use an unchanged sing-box 1.14 or newer.")
        ),
        "engine-host-gone": (
            Text("启动内核的进程不在了，内核也随之退出。", "The engine host has ended, and the engine with it."),
            Text(
                "请断开，再重启系统服务：sudo systemctl restart trocket-tunnel。",
                "Disconnect, then start trocket-tunnel again.")
        ),
        "user-namespaces-forbidden": (
            Text("系统不允许普通用户使用用户命名空间。", "Unprivileged user namespaces are forbidden on this system."),
            Text(
                "请启用随附的 AppArmor 配置，或运行 sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000。",
                "Enable the AppArmor profile that comes with Trocket, or run: sudo sysctl -w "
                    + "kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000")
        ),
        "no-tun": (
            Text("没有可用的 /dev/net/tun。", "/dev/net/tun is missing or closed."),
            Text("请运行 sudo modprobe tun。", "Run: sudo modprobe tun")
        ),
        "nft-missing": (
            Text("内核没有 nftables，无法启用断网保护。", "The kernel has no nftables, so there is no kill switch."),
            Text(
                "请不用断网保护连接；或加载 nf_tables、nft_ct、nft_reject_inet（sudo modprobe -a），断开后再连接。",
                "Connect without the kill switch; or load nf_tables, nft_ct and nft_reject_inet, disconnect and connect "
                    + "again.")
        ),
        "taken": (
            Text("网络设备名或地址已被其他程序占用。", "The link's name or all addresses are taken by something else."),
            Text("请先停掉另一个代理或 VPN。", "Stop the other proxy or VPN first.")
        ),
        "second-worker": (
            Text("已有另一个 Trocket 服务在管理本机网络。", "Another Trocket service manages this network."),
            Text("请先停掉它。", "Stop it first.")
        ),
        "sandbox-network": (
            Text("沙箱内的网络没有建好。", "The sandbox's network could not be set up."),
            Text(
                "请查看 trocket-controller logs --source worker，并运行 trocket-controller doctor。",
                "Look at the worker's log; run trocket-controller doctor.")
        ),
        "host-network": (
            Text("本机网络没有改好。", "The host's network could not be set up."), workerLogRemedy
        ),
        "not-verified": (Text("写入的网络设置与读回的不同。", "What was set up is not what was read back."), workerLogRemedy),
        "not-confirmed": (
            Text("没有及时确认，连接已撤销。", "Nobody confirmed in time; the connection was undone."),
            Text(
                "请重新连接，并在时限内运行 trocket-controller confirm。", "Connect again and run trocket-controller confirm in time."
            )
        ),
        "worker-died": (
            Text(
                "系统服务曾意外退出，断网保护仍在生效。",
                "The worker ended while the kill switch was on; nothing leaves this machine but local traffic."),
            Text(
                "除非一再失败，系统服务会自动重新连接；如要恢复网络，请运行 trocket-controller disconnect。",
                "The connection is taken up again unless that has failed too often; trocket-controller disconnect opens "
                    + "the network.")
        ),
        "state-directory": (
            Text("系统服务的目录无法使用。", "A directory of the service cannot be used."), workerLogRemedy
        ),
    ]
    package static let engineLogRemedy = Text(
        "请查看 trocket-controller logs --source engine。", "See: trocket-controller logs --source engine")
}

extension Messages {
    package static let workerMissing = Text("找不到 trocket-tunnel。", "trocket-tunnel was not found.")
    package static func workerNotStarted(_ path: String, _ code: Int) -> Text {
        Text("\(path) 启动后退出（\(code)）。", "\(path) ended at once (\(code)).")
    }
    package static func workerNotStartedRemedy(_ path: String) -> Text {
        Text("请直接运行 sudo \(path) 查看原因。", "See why with: sudo \(path)")
    }
    package static func workerUntrusted(_ path: String) -> Text {
        Text(
            "\(path) 可被 root 以外的用户修改，不会以 root 运行它。",
            "\(path) can be changed by others than root and is not run as root.")
    }
    package static let workerUntrustedRemedy = Text(
        "请安装 Trocket，或把文件改为 root 所有且他人不可写。", "Install Trocket, or make the file root's and not writable by others.")
}
