// The help pages and the sentences for usage errors, rendered from the table.

package import Messages

extension OptionSpecification {
    /// The option as typed: `--timeout TIME`.
    package var form: String { value.map { "--\(name) \($0)" } ?? "--\(name)" }
}

extension OperandSpecification {
    /// The operand in a usage line: `LINE`, `[LINE]`, `[LINE…]`.
    package var form: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .any: "[\(name)…]"
        }
    }
}

extension CommandTable {
    /// The usage line of a verb, or of the program.
    package func usage(of verb: VerbSpecification?) -> String {
        guard let verb else { return "\(program) [VERB] [OPTION…]" }
        let words = [program, verb.name, verb.operand?.form, verb.options.isEmpty ? nil : "[OPTION…]"]
        return words.compactMap { $0 }.joined(separator: " ")
    }

    /// The program's help: every verb in a line.
    /// - Parameter width: terminal columns.
    package func help(language: Language, width: Int) -> String {
        let rows = verbs.map { verb in
            (verb.name + (verb.operand.map { " " + $0.form } ?? ""), verb.summary(language))
        }
        var blocks = [summary(language), Text("用法：", "Usage: ")(language) + usage(of: nil)]
        blocks.append(Text("命令：", "Verbs:")(language) + "\n" + columns(rows, width: width))
        blocks.append(Text("通用选项：", "Common options:")(language) + "\n" + list(common, language, width))
        if let epilogue { blocks.append(wrap(epilogue(language), width)) }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    /// A verb's help.
    package func help(of verb: VerbSpecification, language: Language, width: Int) -> String {
        var blocks = [Text("用法：", "Usage: ")(language) + usage(of: verb), wrap(verb.summary(language), width)]
        if let details = verb.details { blocks.append(wrap(details(language), width)) }
        if !verb.options.isEmpty {
            blocks.append(Text("选项：", "Options:")(language) + "\n" + list(verb.options, language, width))
        }
        blocks.append(Text("通用选项：", "Common options:")(language) + "\n" + list(common, language, width))
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private func list(_ options: [OptionSpecification], _ language: Language, _ width: Int) -> String {
        columns(options.map { ($0.form, $0.help(language)) }, width: width)
    }

    private func wrap(_ text: String, _ width: Int) -> String {
        DisplayWidth.wrapped(text, to: max(20, width)).joined(separator: "\n")
    }

    /// Two columns, the second wrapped; a long first column gets a line of its own.
    private func columns(_ rows: [(String, String)], width: Int) -> String {
        let left = min(26, (rows.map { DisplayWidth.of($0.0) }.max() ?? 0) + 2)
        var lines: [String] = []
        for (name, text) in rows {
            var texts = DisplayWidth.wrapped(text, to: max(20, width - left - 2))
            if DisplayWidth.of(name) + 2 > left {
                lines.append("  " + name)
            } else {
                lines.append("  " + DisplayWidth.padded(name, to: left) + texts.removeFirst())
            }
            lines += texts.map { String(repeating: " ", count: left + 2) + $0 }
        }
        return lines.joined(separator: "\n")
    }
}

extension UsageError {
    /// What is wrong, in a sentence.
    package var message: Text {
        switch self {
        case .unknownVerb(let word, _): Text("没有“\(word)”这个命令。", "There is no verb “\(word)”.")
        case .unknownOption(let option, _): Text("没有 \(option) 这个选项。", "There is no option \(option).")
        case .missingValue(let option, let value):
            Text("--\(option) 后面缺少 \(value)。", "--\(option) needs a value: \(value).")
        case .unwantedValue(let option): Text("--\(option) 不带值。", "--\(option) takes no value.")
        case .repeated(let option): Text("--\(option) 给了不止一次。", "--\(option) was given more than once.")
        case .missingOperand(let name): Text("缺少 \(name)。", "\(name) is missing.")
        case .unwantedOperand(let word): Text("多余的参数“\(word)”。", "“\(word)” is one argument too many.")
        case .badValue(let option, let value, let expected):
            Text("--\(option) 不能是“\(value)”，应为：\(expected)。", "--\(option) cannot be “\(value)”; it takes \(expected).")
        case .badOperand(let name, let value, let expected):
            Text("\(name) 不能是“\(value)”，应为：\(expected)。", "\(name) cannot be “\(value)”; it takes \(expected).")
        case .conflict(let one, let other): Text("\(one) 与 \(other) 不能同时使用。", "\(one) and \(other) exclude each other.")
        }
    }

    /// What was probably meant.
    package var suggestion: String? {
        switch self {
        case .unknownVerb(_, let suggestion), .unknownOption(_, let suggestion): suggestion
        default: nil
        }
    }
}

extension CommandTable {
    /// What to do about a usage error: the likely word, the usage line and where the help is.
    package func remedy(for problem: UsageProblem) -> Text {
        let help = problem.verb.map { "\(program) \($0.name) --help" } ?? "\(program) --help"
        let usage = usage(of: problem.verb)
        let more = Text("用法：\(usage)（详见 \(help)）", "Usage: \(usage) (more: \(help))")
        guard let suggestion = problem.error.suggestion else { return more }
        return Text("是不是想用“\(suggestion)”？", "Did you mean “\(suggestion)”? ") + more
    }
}
