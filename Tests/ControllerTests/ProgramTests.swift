// Whole command lines through the program, with what it writes collected.

import CommandLine
import JSON
import Linux
import Messages
import Store
import Testing

@testable import Controller

/// The environment with nobody at the worker's socket.
func withoutWorker(_ name: String) -> String? {
    name == "TROCKET_SOCKET" ? "/nonexistent/command.sock" : Surroundings.variable(name)
}

/// Runs a command line and collects both streams. A worker that is installed here has nothing to do with it.
func run(_ words: String..., language: Language = .english) -> (status: ExitCode, output: String, errors: String) {
    var written = ""
    var errors = ""
    let output = Output(
        language: language, json: words.contains("--json"), quiet: words.contains("--quiet"), isWatched: false,
        columns: 80, writeOutput: { written += $0 }, writeError: { errors += $0 })
    let status = Program.run(words, output: output, variable: withoutWorker)
    return (status, written, errors)
}

@Suite struct ProgramTests {
    @Test func usageErrorsEnd64AndSayWhatWasMeant() {
        let found = run("statsu")
        #expect(found.status == .usage)
        #expect(found.output.isEmpty)
        #expect(found.errors.hasPrefix("trocket: There is no verb “statsu”.\n"))
    }

    @Test(arguments: [
        ["connect", "--wait", "-1"], ["connect", "--kill-switch", "--no-kill-switch"], ["mode", "foo"],
        ["lines", "--sort", "size"], ["profile", "--qr", "--redact"], ["logs", "--source", "mine"],
        ["test", "--timeout", "never"],
        ["completion", "tcsh"], ["status", "--state-dir", ""], ["status", "--state-dir="],
    ])
    func valuesAreCheckedBeforeAnythingIsStarted(words: [String]) {
        var written = ""
        let output = Output(
            language: .english, json: false, quiet: false, isWatched: false, columns: 80,
            writeOutput: { written += $0 },
            writeError: { _ in })
        var isPrepared = false
        let missing = words.contains { $0.hasPrefix("--state-dir") } ? [] : ["--state-dir", "/nonexistent/state"]
        #expect(Program.run(words + missing, output: output, prepare: { _, _ in isPrepared = true }) == .usage)
        #expect(!isPrepared)
        #expect(written.isEmpty)
    }

    @Test func connectKnowsWhatItNeedsBeforeTheServiceIsStarted() throws {
        let command = try Program.table.parse(["connect", "--state-dir", "/nonexistent/state"])
        let context = Context(output: silent(), stateDirectory: command.value("state-dir"))
        #expect { try Connecting.wanted(command, context) } throws: { ($0 as? StoreError)?.code == .missing }
    }

    @Test func whatOthersWroteCommandsNoTerminal() throws {
        var written = ""
        func output(json: Bool = false) -> Output {
            Output(
                language: .english, json: json, quiet: false, isWatched: false, columns: 80,
                writeOutput: { written += $0 }, writeError: { written += $0 })
        }
        let hostile = "a\u{1b}]0;x\u{7}\u{9b}2J\r\u{7f}日\u{a0}é\tb\n"
        let text = Text(verbatim: hostile)
        output().raw(hostile)
        output().result(hostile)
        output().note(text)
        output().failure(Failure("code", .failed, text, remedy: text))
        #expect(
            !written.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" && $0 != "\t" })
        #expect(written.hasPrefix("a\u{fffd}]0;x\u{fffd}\u{fffd}2J\u{fffd}\u{fffd}日\u{a0}é\tb\n"))
        written = ""
        output(json: true).result(["text": .string(hostile)])
        #expect(!written.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
        #expect(try JSON.parse(written) == ["text": .string(hostile)])
    }

    @Test func aLostResultIsAFailure() {
        var errors = ""
        let full = Output(
            language: .english, json: false, quiet: false, isWatched: false, columns: 80,
            writeOutput: { _ in throw SystemCallError("writing to", "standard output", .noSpace) },
            writeError: { errors += $0 })
        #expect(Program.run(["--version"], output: full) == .failed)
        #expect(errors.hasPrefix("trocket: The result could not be written: "))
    }

    @Test func aReaderThatWentAwayIsToldNothing() {
        var errors = ""
        let gone = Output(
            language: .english, json: false, quiet: false, isWatched: false, columns: 80,
            writeOutput: { _ in throw SystemCallError("writing to", "standard output", .brokenPipe) },
            writeError: { errors += $0 })
        #expect(Program.run(["--help"], output: gone) == .failed)
        #expect(errors.isEmpty)
    }

    @Test func helpIsAVerbToo() {
        #expect(run("help").output == run("--help").output)
        #expect(run("help", "select").output == run("select", "--help").output)
        #expect(run("help", "nothing").status == .usage)
    }

    @Test func logLinesAreObjectsWhenAskedFor() throws {
        var written = ""
        let output = Output(
            language: .english, json: true, quiet: false, isWatched: false, columns: 80, writeOutput: { written += $0 },
            writeError: { _ in })
        var text = LogText("worker")
        text.add(Array("one\ntw".utf8), to: output)
        text.add(Array("o\nthree".utf8), to: output)
        text.end(on: output)
        let lines = try written.split(separator: "\n").map { try JSON.parse(String($0)) }
        #expect(lines.map { $0["text"].string } == ["one", "two", "three"])
        #expect(lines.allSatisfy { $0["source"] == "worker" })
    }

    private func silent() -> Output {
        Output(
            language: .english, json: false, quiet: false, isWatched: false, columns: 80, writeOutput: { _ in },
            writeError: { _ in })
    }

    @Test func errorsAreJSONWhenAskedFor() throws {
        let found = run("lines", "--sort", "--json")
        #expect(found.status == .usage)
        let error = try JSON.parse(found.output)["error"]
        #expect(error.object?.keys == ["code", "message", "remedy"])
        #expect(error["code"] == "usage")
        #expect(found.errors.isEmpty)
    }

    /// What the program takes is offered by every shell and told by both manual pages.
    @Test(arguments: ["bash", "zsh", "fish", "man/trocket-controller.1", "man/zh_CN/trocket-controller.1"])
    func everyVerbAndOptionIsKnownTo(_ place: String) throws {
        let text: String
        if place.contains("/") {
            let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
            text = try #require(Surroundings.contents(of: "/\(root)/scripts/packaging/\(place)"))
            let statuses = try #require(text.split(separator: ".Sh EXIT STATUS\n").last).split(separator: ".Sh")[0]
            let told = statuses.split { " ；;\n.".contains($0) }.compactMap { Int32($0) }
            #expect(told == ExitCode.allCases.map(\.rawValue))
        } else {
            text = run("completion", place).output
        }
        for verb in Program.table.verbs {
            #expect(text.contains(place.contains("/") ? ".It Cm \(verb.name)" : verb.name), "\(verb.name)")
            for option in verb.options + Program.table.common {
                let forms = ["fish": "-l \(option.name) ", "bash": "--\(option.name)", "zsh": "--\(option.name)["]
                #expect(text.contains(forms[place] ?? "Fl -\(option.name)"), "\(option.name)")
            }
        }
    }

    /// What the README tells people to type is understood, and the scripts and units it names are there.
    @Test func theReadmeCanBeTyped() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try #require(Surroundings.contents(of: root + "/README.md"))
        // Between backquotes, or in an indented line.
        let pieces =
            text.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap {
                $0 % 2 == 1 ? $1 : nil
            }
            + text.split(separator: "\n").filter { $0.hasPrefix("    ") }
        var verbs = 0
        var scripts = 0
        for piece in pieces.map({ $0.split(separator: "#")[0] }) {
            for command in piece.split(separator: "&&").flatMap({ $0.split(separator: "，然后") }) {
                let words = command.split(separator: " ").map(String.init)
                if let start = words.firstIndex(of: "trocket-controller"), words.first != "man" {
                    let typed = Array(words[(start + 1)...])
                    // `select` alone stands for what the sentence says of it.
                    if typed != ["select"] { _ = try Program.table.parse(typed) }
                    verbs += 1
                }
                for word in words where word.hasPrefix("./scripts/") || word.hasPrefix("scripts/") {
                    #expect(Surroundings.exists(root + "/" + word.drop { "./".contains($0) }), "\(word)")
                    scripts += 1
                }
                for word in words
                where word.hasPrefix("trocket-") && !["trocket-controller", "trocket-engine"].contains(word) {
                    let unit = word.split(separator: "@")[0]
                    let folder = word.hasSuffix(".timer") ? "systemd-user/" : "systemd/"
                    let name = word.contains("@") ? unit + "@.service" : word.contains(".") ? unit : unit + ".service"
                    #expect(Surroundings.exists(root + "/scripts/packaging/" + folder + name), "\(word)")
                }
            }
        }
        #expect(verbs > 30 && scripts > 8)
    }

    @Test func bashLooksPastTheValuesOfOptions() throws {
        let script = run("completion", "bash").output
        #expect(script.contains("case $last in --agent|--close|"))
        #expect(script.contains("|--state-dir|"))
        #expect(!script.contains("|--json|"))
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
