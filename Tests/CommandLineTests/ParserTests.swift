// Command lines, good and bad, against a small table.

import CommandLine
import Messages
import Testing

private let lines = VerbSpecification(
    "lines", summary: Text("列出", "list"),
    options: [
        OptionSpecification("sort", value: "KEY", Text("排序", "order")), OptionSpecification("all", Text("全部", "all")),
    ])
private let importing = VerbSpecification(
    "import", summary: Text("导入", "import"), operand: OperandSpecification("SOURCE", .one))
private let testing = VerbSpecification(
    "test", summary: Text("测速", "measure"), operand: OperandSpecification("LINE", .any),
    options: [OptionSpecification("timeout", value: "TIME", Text("时限", "time limit"))])
private let select = VerbSpecification(
    "select", summary: Text("选择", "select"), operand: OperandSpecification("LINE", .optional))
private let table = CommandTable(
    program: "prog", summary: Text("程序", "A program"), verbs: [lines, importing, testing, select],
    common: [OptionSpecification("json", Text("JSON", "JSON")), OptionSpecification("help", Text("帮助", "help"))])

private func problem(_ words: [String]) -> UsageProblem? {
    do throws(UsageProblem) { _ = try table.parse(words) } catch { return error }
    return nil
}

@Suite struct ParserTests {
    @Test(
        arguments: [
            (["lines"], "lines", [:], []),
            (["lines", "--sort", "name", "--all"], "lines", ["sort": "name", "all": ""], []),
            (["--json", "lines", "--sort=name"], "lines", ["json": "", "sort": "name"], []),
            (["--sort", "name", "lines"], "lines", ["sort": "name"], []),
            (["import", "-"], "import", [:], ["-"]),
            (["import", "--", "--odd--file"], "import", [:], ["--odd--file"]),
            (["test", "a", "b", "--timeout", "-"], "test", ["timeout": "-"], ["a", "b"]),
            (["select", "🇭🇰 HK | 01 x2"], "select", [:], ["🇭🇰 HK | 01 x2"]),
            (["import", "--help"], "import", ["help": ""], []),
            (["-h"], nil, ["help": ""], []),
            ([], nil, [:], []),
        ] as [([String], String?, [String: String], [String])])
    func good(words: [String], verb: String?, options: [String: String], operands: [String]) throws {
        let command = try table.parse(words)
        #expect(command.verb?.name == verb)
        #expect(command.options == options)
        #expect(command.operands == operands)
    }

    @Test(
        arguments: [
            (["linse"], UsageError.unknownVerb("linse", suggestion: "lines")),
            (["li"], .unknownVerb("li", suggestion: "lines")),
            (["zzz"], .unknownVerb("zzz", suggestion: nil)),
            (["lines", "--srot", "x"], .unknownOption("--srot", suggestion: "--sort")),
            (["lines", "--timeout", "5"], .unknownOption("--timeout", suggestion: nil)),
            (["--timeout", "5", "lines"], .unknownOption("--timeout", suggestion: nil)),
            (["lines", "-x"], .unknownOption("-x", suggestion: nil)),
            (["lines", "--sort"], .missingValue(option: "sort", value: "KEY")),
            (["lines", "--sort", "--all"], .missingValue(option: "sort", value: "KEY")),
            (["lines", "--all=yes"], .unwantedValue(option: "all")),
            (["lines", "--sort", "a", "--sort", "b"], .repeated(option: "sort")),
            (["import"], .missingOperand("SOURCE")),
            (["import", "a", "b"], .unwantedOperand("b")),
            (["lines", "a"], .unwantedOperand("a")),
        ] as [([String], UsageError)])
    func bad(words: [String], error: UsageError) { #expect(problem(words)?.error == error) }

    @Test(
        arguments: [
            ("5", 5000), ("5s", 5000), ("1.5s", 1500), ("800ms", 800), ("2m", 120_000), ("0", nil), ("x", nil),
            ("", nil),
            ("-5", nil), ("5h", nil), ("1e9", nil), ("1..2s", nil),
        ] as [(String, Int?)])
    func lengthsOfTime(text: String, expected: Int?) throws {
        let command = try table.parse(["test", "--timeout=" + text])
        let found = try? command.milliseconds("timeout", in: 100...600_000)
        #expect(found == expected)
    }

    @Test func remedyNamesTheLikelyWordAndTheUsage() throws {
        let found = try #require(problem(["lines", "--srot", "x"]))
        #expect(
            table.remedy(for: found)(.english)
                == "Did you mean “--sort”? Usage: prog lines [OPTION…] (more: prog lines --help)")
    }

    @Test func helpOfAVerb() {
        let expected = """
            Usage: prog test [LINE…] [OPTION…]

            measure

            Options:
              --timeout TIME  time limit

            Common options:
              --json  JSON
              --help  help

            """
        #expect(table.help(of: testing, language: .english, width: 80) == expected)
    }

    @Test func helpOfTheProgramInChinese() {
        let expected = """
            程序

            用法：prog [VERB] [OPTION…]

            命令：
              lines          列出
              import SOURCE  导入
              test [LINE…]   测速
              select [LINE]  选择

            通用选项：
              --json  JSON
              --help  帮助

            """
        #expect(table.help(language: .chinese, width: 80) == expected)
    }
}
