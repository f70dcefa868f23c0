// Only a sandbox that the engine itself made is believed.

import Commands
import Glibc
import Linux
import Testing

@testable import EngineHost

@Suite struct HolderTests {
    /// Starts a program, gives its pid once it has written a line, and ends it.
    private func with(_ arguments: [String], _ body: (Int32) throws -> Void) throws {
        let pipe = try Pipe()
        var request = ChildRequest(path: "/usr/bin/env", arguments: ["env"] + arguments)
        request.environment = ["PATH=/usr/bin:/bin"]
        request.descriptors[1] = pipe.writer.number
        let child = try ChildProcess(starting: request)
        let reader = pipe.keepingReader()
        _ = try readSome(reader.number)
        defer { child.end(graceMilliseconds: 0) }
        try body(child.pid)
    }

    @Test func aStrangerIsRefused() throws {
        try with(["sh", "-c", "echo; exec sleep 60"]) { pid in
            #expect(throws: (any Error).self) { try refuse(holder: getppid(), engine: pid) }
        }
    }

    @Test func theEnginesOwnChildInTheHostsNetworkIsRefused() throws {
        try with(["sh", "-c", "echo; exec sleep 60"]) { pid in
            let failure = #expect(throws: Failure.self) { try refuse(holder: pid, engine: getpid()) }
            #expect(failure?.code == .untrustedSandbox)
        }
    }

    @Test(.enabled(if: (try? canMakeUserNamespaces()) == true)) func aSandboxOfItsOwnIsAccepted() throws {
        try with(["unshare", "--user", "--net", "sh", "-c", "echo; exec sleep 60"]) { pid in
            let found = try Holder.namespaces(of: pid, engine: getpid())
            #expect(
                try NamespaceIdentity(ownerOf: found.network.number)
                    == NamespaceIdentity(of: found.user.number, kind: .user))
            #expect(throws: (any Error).self) { try refuse(holder: pid, engine: 1) }
        }
    }

    private func refuse(holder: Int32, engine: Int32) throws { _ = try Holder.namespaces(of: holder, engine: engine) }

    @Test(arguments: [
        ("4242", 4242), ("4242\n", 4242), ("", nil), ("1", nil), ("-5", nil), ("x", nil), ("99999999999", nil),
    ])
    func pidFilesAreReadCarefully(text: String, pid: Int32?) throws {
        var template = Array("/tmp/trocket-holder-XXXXXX".utf8CString)
        let path = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
        let directory = try Directory(path)
        defer {
            _ = try? directory.remove("holder.pid")
            rmdir(path)
        }
        try directory.replace("holder.pid", with: Array(text.utf8), mode: 0o600)
        #expect(Holder.pid(in: directory, named: "holder.pid", owner: getuid()) == pid)
        #expect(Holder.pid(in: directory, named: "holder.pid", owner: getuid() + 1) == nil)
    }
}
