// Whole command lines through the program, with what it writes collected.

import CommandLine
import JSON
import Messages
import Testing

@testable import Controller

/// Runs a command line and collects both streams.
func run(_ words: String..., language: Language = .english) -> (status: ExitCode, output: String, errors: String) {
    var written = ""
    var errors = ""
    let output = Output(
        language: language, json: words.contains("--json"), quiet: words.contains("--quiet"), isWatched: false,
        columns: 80, writeOutput: { written += $0 }, writeError: { errors += $0 })
    let status = Program.run(words, output: output)
    return (status, written, errors)
}

@Suite struct ProgramTests {
    @Test func usageErrorsEnd64AndSayWhatWasMeant() {
        let found = run("statsu")
        #expect(found.status == .usage)
        #expect(found.output.isEmpty)
        #expect(found.errors.hasPrefix("trocket: There is no verb “statsu”.\n"))
    }

    @Test func errorsAreJSONWhenAskedFor() throws {
        let found = run("lines", "--sort", "--json")
        #expect(found.status == .usage)
        let error = try JSON.parse(found.output)["error"]
        #expect(error.object?.keys == ["code", "message", "remedy"])
        #expect(error["code"] == "usage")
        #expect(found.errors.isEmpty)
    }

    @Test(arguments: Verb.all.map(\.specification.name))
    func everyVerbHasHelp(name: String) {
        for language in Language.allCases {
            let found = run(name, "--help", language: language)
            #expect(found.status == .done)
            #expect(found.output.contains("trocket-controller \(name)"))
        }
    }
}
