// Flags and configuration file mean the same, and nothing unclear is accepted.

import Glibc
import Testing

@testable import Worker

@Suite struct SettingsTests {
    private func settings(_ arguments: String...) throws -> WorkerSettings {
        guard case .serve(let flags, _) = try WorkerCommand(arguments: arguments) else { throw StartFailure.usage("") }
        var settings = WorkerSettings()
        for flag in flags { try settings.set(flag.key, flag.value) }
        return settings
    }

    @Test func flagsAndFileAgree() throws {
        let flags = try settings(
            "--state-root", "/s", "--run-dir=/r", "--engine", "/e", "--rule-sets", "/x", "--user", "1000", "--user=7",
            "--worker-user", "w", "--engine-user", "g", "--group", "t")
        var file = WorkerSettings()
        try file.read(
            file: """
                # made by hand
                state-root = /s
                run-dir=/r   # the socket
                engine = /e

                rule-sets = /x
                user = 1000
                user = 7
                worker-user = w
                engine-user = g
                group = t
                """)
        #expect(file == flags)
        #expect(file.users == [1000, 7])
        #expect(try settings() == WorkerSettings())
    }

    @Test(arguments: [
        ["--engine"], ["--engine", "relative"], ["--engine="], ["--nonsense", "1"], ["serve"], ["--user", "root"],
        ["--user", "4294967295"], ["--run-dir", "/" + String(repeating: "a", count: 100)],
    ])
    func unclearFlagsAreRefused(arguments: [String]) {
        #expect(throws: (any Error).self) {
            guard case .serve(let flags, _) = try WorkerCommand(arguments: arguments) else { return }
            var settings = WorkerSettings()
            for flag in flags { try settings.set(flag.key, flag.value) }
        }
    }

    @Test(arguments: ["engine", "engin = /e", "= /e", "engine = ", "engine = e"])
    func unclearLinesAreRefused(line: String) {
        var settings = WorkerSettings()
        #expect(throws: WorkerSettings.Invalid.self) { try settings.read(file: line) }
        #expect(settings == WorkerSettings())
    }

    @Test func helpAndVersionWinOverTheRest() throws {
        #expect(try WorkerCommand(arguments: ["--engine", "/e", "--help"]) == .help)
        #expect(try WorkerCommand(arguments: ["--version"]) == .version)
    }
}
