// An engine gets what it is given and nothing else; its half of the configuration is what the plan says.

import EngineProcess
import Glibc
import JSON
import Linux
import Testing

@Suite struct EngineLaunchTests {
    private func output(_ path: String, directory: String = "/tmp", readable: [String] = []) throws -> (Int32?, String)
    {
        let pipe = try Pipe()
        var launch = EngineLaunch(path: path, directory: directory)
        launch.configurations = [STDIN_FILENO, STDIN_FILENO]
        launch.output = pipe.writer.number
        launch.readable = readable
        let child = try launch.start(asOwnUser: false)
        let reader = pipe.keepingReader()
        let text = String(decoding: try readAll(reader.number, limit: 1 << 16, subject: "pipe"), as: UTF8.self)
        return (child.wait(milliseconds: 10_000), text)
    }

    @Test func itGetsItsFilesByDescriptor() throws {
        let (code, text) = try output("/bin/echo")
        #expect(code == 0)
        #expect(text == "run --disable-color -c /dev/fd/3 -c /dev/fd/4 -D /tmp\n")
    }

    @Test(.enabled(if: Landlock.version > 0)) func itRunsNoOtherProgram() throws {
        let path = "/tmp/trocket-engine-launch-\(getpid()).sh"
        let file = open(path, O_WRONLY | O_CREAT, 0o755)
        try writeAll(file, Array("#!/bin/sh\necho no\n".utf8))
        close(file)
        defer { unlink(path) }
        let error = #expect(throws: SystemCallError.self) { try output(path) }
        #expect(error?.operation == "executing the program")
        #expect(error?.errno == .accessDenied)
    }

    /// No Unix socket and so no bus, no screen and no other service of the machine; no packets, no netfilter.
    @Test func itMakesInternetSocketsOnly() throws {
        let program = """
            import errno, socket
            def made(family, kind, protocol=0):
                try: socket.socket(family, kind, protocol)
                except OSError as problem: return errno.errorcode[problem.errno]
                return "made"
            print(made(socket.AF_INET, socket.SOCK_STREAM), made(socket.AF_INET6, socket.SOCK_DGRAM),
                  made(socket.AF_NETLINK, socket.SOCK_RAW, 0), made(socket.AF_NETLINK, socket.SOCK_RAW, 12),
                  made(socket.AF_UNIX, socket.SOCK_STREAM), made(socket.AF_PACKET, socket.SOCK_RAW),
                  made(socket.AF_ALG, socket.SOCK_SEQPACKET), made(socket.AF_VSOCK, socket.SOCK_STREAM))
            """
        let pipe = try Pipe()
        var request = ChildRequest(path: "/usr/bin/python3", arguments: ["python3", "-I", "-c", program])
        request.descriptors[1] = pipe.writer.number
        request.deniedCalls = DeniedCalls.engine
        request.internetOnly = true
        let child = try ChildProcess(starting: request)
        let reader = pipe.keepingReader()
        let text = String(decoding: try readAll(reader.number, limit: 1 << 16, subject: "pipe"), as: UTF8.self)
        #expect(child.wait(milliseconds: 10_000) == 0)
        #expect(text == "made made made EPERM EPERM EPERM EPERM EPERM\n")
    }

    /// Nothing of it can outlive whoever started it; threads are no processes.
    @Test func aBriefRunStartsNothing() throws {
        let program = """
            import ctypes, errno, os, threading
            libc = ctypes.CDLL(None, use_errno=True)
            def tried(number, *arguments):
                answer = libc.syscall(number, *arguments)
                if answer == 0 and number != prctl: os._exit(0)
                return "done" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
            clone, clone3, prctl, *others = [int(word) for word in os.sys.argv[1].split(",")]
            thread = threading.Thread(target=print, args=("thread",), kwargs={"flush": True})
            thread.start()
            thread.join()
            print(tried(clone, 17, 0, 0, 0, 0), tried(clone3, 0, 0), tried(prctl, 1, 0), tried(prctl, 4, 1),
                  *[tried(number) for number in others])
            """
        let pipe = try Pipe()
        #if arch(x86_64)
            let numbers = [56, 435, 157, 57, 58]  // clone, clone3, prctl, fork, vfork
        #else
            let numbers = [220, 435, 167]
        #endif
        var request = ChildRequest(
            path: "/usr/bin/python3",
            arguments: ["python3", "-I", "-c", program, numbers.map { "\($0)" }.joined(separator: ",")])
        request.descriptors[1] = pipe.writer.number
        let child = try EngineLaunch.startBriefly(request)
        let reader = pipe.keepingReader()
        let text = String(decoding: try readAll(reader.number, limit: 1 << 16, subject: "pipe"), as: UTF8.self)
        #expect(child.wait(milliseconds: 10_000) == 0)
        let refused = numbers.count > 3 ? " EPERM EPERM" : ""
        #expect(text == "thread\nEPERM ENOSYS EPERM done\(refused)\n")
    }

    @Test func itsRulesNameNoUsersDirectory() {
        var launch = EngineLaunch(path: "/usr/lib/trocket/sing-box", directory: "/var/lib/trocket/engine")
        launch.readable = ["/var/lib/trocket/users/1000/rule-sets"]
        launch.makesSandbox = true
        launch.ports = [9090]
        let rules = launch.rules
        #expect(rules.writable == ["/var/lib/trocket/engine"])
        #expect(rules.files.contains("/dev/net/tun"))
        #expect(rules.bindablePorts == [0, 9090])
        #expect(!(rules.readable + rules.executable).contains { "/var/lib/trocket/users/1000".hasPrefix($0) })
        #expect(rules.confinesSignals && rules.confinesAbstractSockets)
    }

    @Test func anEngineWithFilesOfItsOwnMakesNone() {
        var launch = EngineLaunch(path: "/usr/lib/trocket/sing-box", directory: "/run/trocket/engine")
        launch.files = ["cache.db"]
        #expect(launch.rules.writable.isEmpty)
        #expect(launch.rules.files.contains("/run/trocket/engine/cache.db"))
        #expect(launch.rules.readable.contains("/run/trocket/engine"))
    }

    @Test func nothingThatConcernsOthersIsAllowed() {
        #expect(DeniedCalls.engine.contains(Int32(101)) || DeniedCalls.engine.contains(Int32(117)), "ptrace")
        #expect(Set(DeniedCalls.engineHost).isSubset(of: DeniedCalls.engine))
        #expect(Set(DeniedCalls.engineHost).isSubset(of: DeniedCalls.worker))
        #expect(max(DeniedCalls.worker.count, DeniedCalls.engine.count) <= 96, "the filter's limit")
    }
}

@Suite struct TunnelConfigurationTests {
    private var configuration: TunnelConfiguration {
        TunnelConfiguration(
            tunAddresses: ["198.19.78.1/30", "fd74:726f:636b:6575::1/126"], redirectPort: 7892, tproxyPort: 7893,
            pidFile: "/e/holder.pid", apiPort: 9090, secret: "s", cacheFile: "/e/cache.db", cacheOwner: "1000")
    }

    @Test func theInboundsAreThePlans() throws {
        let wanted = try JSON.parse(
            #"""
            [{"type":"tun","tag":"tun","interface_name":"tun0","address":["198.19.78.1/30","fd74:726f:636b:6575::1/126"],
              "mtu":65535,"auto_route":false,"stack":"mixed","netns":"sandbox"},
             {"type":"redirect","tag":"redirect","listen":"::","listen_port":7892,"netns":"sandbox"},
             {"type":"tproxy","tag":"tproxy","listen":"::","listen_port":7893,"network":"udp","netns":"sandbox"}]
            """#)
        #expect(configuration.json["inbounds"] == wanted)
        #expect(
            configuration.json["network_namespaces"]
                == [["type": "unshare", "tag": "sandbox", "pid_file": "/e/holder.pid"]])
    }

    @Test func withoutNftEverythingComesByTheTUN() {
        var plain = configuration
        plain.redirects = false
        #expect(plain.json["inbounds"].listed.map { $0["type"].string } == ["tun"])
        var old = configuration
        old.hasIPv6 = false
        #expect(old.json["inbounds"].listed[1]["listen"] == "0.0.0.0")
    }

    @Test func whatAProfileCouldOpenIsNamedClosed() {
        let experimental = configuration.json["experimental"]
        #expect(experimental["clash_api"]["external_controller"] == "127.0.0.1:9090")
        #expect(experimental["clash_api"]["secret"] == "s")
        #expect(experimental["clash_api"]["external_ui"] == "")
        #expect(experimental["debug"]["listen"] == "")
        #expect(experimental["cache_file"]["cache_id"] == "1000")
        #expect(configuration.json["log"]["output"] == "")
    }
}
