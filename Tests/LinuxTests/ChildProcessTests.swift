// A child starts with default signals, an empty mask and no descriptor it was not given.

import Glibc
import Linux
import Testing

@Suite struct ChildProcessTests {
    private func output(of request: ChildRequest) throws -> (code: Int32?, text: String) {
        var request = request
        let pipe = try Pipe()
        request.descriptors[1] = pipe.writer.number
        let child = try ChildProcess(starting: request)
        let reader = pipe.keepingReader()
        let text = String(decoding: try readAll(reader.number, limit: 1 << 20, subject: "pipe"), as: UTF8.self)
        return (child.wait(), text)
    }

    @Test func signalsAreDefault() throws {
        signal(SIGPIPE, SIG_IGN)
        let result = try output(
            of: ChildRequest(path: "/bin/grep", arguments: ["grep", "^Sig[BI]", "/proc/self/status"]))
        #expect(result.code == 0)
        let masks = result.text.split(separator: "\n").compactMap { UInt64($0.suffix(16), radix: 16) }
        // 32 and 33 are glibc's own (signal(7)) and out of sigaction's reach.
        #expect(masks.map { $0 & ~(0b11 << 31) } == [0, 0])
    }

    @Test func descriptorsAndEnvironmentAreExplicit() throws {
        let stray = open("/dev/null", O_RDONLY)
        defer { close(stray) }
        var request = ChildRequest(path: "/bin/sh", arguments: ["sh", "-c", "echo /proc/self/fd/*; echo ${HOME-none}"])
        request.environment = ["X=1"]
        let lines = try output(of: request).text.split(separator: "\n")
        #expect(lines.first?.split(separator: " ").count == 4)  // 0, 1, 2 and the glob's own directory
        #expect(lines.last == "none")
    }

    @Test func aMissingProgramNamesTheStep() {
        let error = #expect(throws: SystemCallError.self) {
            try ChildProcess(starting: ChildRequest(path: "/nonexistent/program", arguments: ["program"]))
        }
        #expect(error?.operation == "executing the program")
        #expect(error?.errno == .noSuchFile)
    }

    @Test func aDeniedCallFails() throws {
        let place = try TemporaryDirectory()
        var request = ChildRequest(path: "/bin/mkdir", arguments: ["mkdir", "\(place.path)/never-made"])
        request.deniedCalls = [83, 258]  // mkdir, mkdirat on x86_64
        #if arch(arm64)
            request.deniedCalls = [34]
        #endif
        let child = try ChildProcess(starting: request)
        #expect(child.wait() == 1)
        #expect(access("\(place.path)/never-made", F_OK) != 0)
    }

    @Test func endKillsWhatDoesNotListen() throws {
        let child = try ChildProcess(
            starting: ChildRequest(
                path: "/bin/sh", arguments: ["sh", "-c", "trap '' TERM; while :; do read x; done </dev/zero"]))
        #expect(child.end(graceMilliseconds: 20) == 128 + SIGKILL || child.exitCode == 128 + SIGTERM)
    }
}
