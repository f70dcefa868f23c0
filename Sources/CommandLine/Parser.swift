// Turns the words of a command line into a verb, options and operands, by the table.

/// A command line that follows the table.
package struct ParsedCommand: Hashable, Sendable {
    /// nil: the program was called without a verb.
    package var verb: VerbSpecification?
    /// Values by option name, without dashes; empty for a flag.
    package var options: [String: String] = [:]
    /// The words that are neither verb nor option, in order.
    package var operands: [String] = []

    /// True when the option was given.
    package func has(_ option: String) -> Bool { options[option] != nil }

    /// An option's value as written.
    package func value(_ option: String) -> String? { options[option] }

    /// An option's value as a whole number within a range.
    /// - Throws: `UsageError.badValue`.
    package func integer(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = options[option] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .badValue(option: option, value: text, expected: "\(range.lowerBound)…\(range.upperBound)")
        }
        return number
    }

    /// An option's value as a length of time: `5`, `5s` (seconds), `1.5s`, `800ms`, `2m`.
    /// - Returns: milliseconds.
    /// - Throws: `UsageError.badValue`.
    package func milliseconds(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = options[option] else { return nil }
        let unit = text.drop { $0.isNumber || $0 == "." }
        let factor: Double? =
            switch unit {
            case "", "s": 1000
            case "ms": 1
            case "m", "min": 60_000
            default: nil
            }
        guard let factor, let number = Double(text.dropLast(unit.count)), number.isFinite,
            let value = Int(exactly: (number * factor).rounded()), range.contains(value)
        else { throw .badValue(option: option, value: text, expected: "5s, 800ms, 2m") }
        return value
    }

    /// An option's value as one of a few words, whatever its case.
    /// - Throws: `UsageError.badValue`.
    package func word(_ option: String, of words: [String]) throws(UsageError) -> String? {
        guard let text = options[option] else { return nil }
        guard let word = words.first(where: { $0 == text.lowercased() }) else {
            throw .badValue(option: option, value: text, expected: words.joined(separator: ", "))
        }
        return word
    }
}

/// A command line that does not follow the table. Rendered by `CommandTable.text(of:)`.
package enum UsageError: Error, Hashable, Sendable {
    case unknownVerb(String, suggestion: String?)
    case unknownOption(String, suggestion: String?)
    case missingValue(option: String, value: String)
    case unwantedValue(option: String)
    case repeated(option: String)
    case missingOperand(String)
    case unwantedOperand(String)
    case badValue(option: String, value: String, expected: String)
    case badOperand(name: String, value: String, expected: String)
    /// Two options that exclude each other.
    case conflict(String, String)
}

/// A usage error and the verb it happened in, so that the right usage line can be shown.
package struct UsageProblem: Error, Hashable, Sendable {
    /// What is wrong.
    package let error: UsageError
    /// The verb it was about; nil when there was none yet.
    package let verb: VerbSpecification?

    package init(_ error: UsageError, verb: VerbSpecification?) {
        self.error = error
        self.verb = verb
    }
}

extension CommandTable {
    /// Parses the words after the program's name. Options may stand anywhere, `--name value` or `--name=value`; `--` ends
    /// them; `-` is an operand (standard input). With `--help` nothing further is checked.
    package func parse(_ words: [String]) throws(UsageProblem) -> ParsedCommand {
        var command = ParsedCommand()
        var rest = words[...]
        var onlyOperands = false
        while let word = rest.popFirst() {
            if onlyOperands || word == "-" || !word.hasPrefix("-") {
                try take(operand: word, into: &command)
            } else if word == "--" {
                onlyOperands = true
            } else {
                do throws(UsageError) { try take(option: word, rest: &rest, into: &command) } catch {
                    throw UsageProblem(error, verb: command.verb)
                }
            }
        }
        guard !command.has("help") else { return command }
        let known = Set((command.verb?.options ?? []).map(\.name) + common.map(\.name))
        if let stray = command.options.keys.sorted().first(where: { !known.contains($0) }) {
            throw UsageProblem(.unknownOption("--" + stray, suggestion: nil), verb: command.verb)
        }
        if let operand = command.verb?.operand, operand.count == .one, command.operands.isEmpty {
            throw UsageProblem(.missingOperand(operand.name), verb: command.verb)
        }
        return command
    }

    private func take(operand word: String, into command: inout ParsedCommand) throws(UsageProblem) {
        guard let verb = command.verb else {
            guard let verb = self.verb(word) else {
                let suggestion = nearest(word, among: verbs.map(\.name))
                throw UsageProblem(.unknownVerb(word, suggestion: suggestion), verb: nil)
            }
            command.verb = verb
            return
        }
        guard let operand = verb.operand, operand.count == .any || command.operands.isEmpty else {
            throw UsageProblem(.unwantedOperand(word), verb: verb)
        }
        command.operands.append(word)
    }

    private func take(
        option word: String, rest: inout ArraySlice<String>, into command: inout ParsedCommand
    ) throws(UsageError) {
        if word == "-h" {
            command.options["help"] = ""
            return
        }
        let parts = word.dropFirst(word.hasPrefix("--") ? 2 : 1).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        // Before the verb is known any verb's option is understood: `--watch status` is as good as `status --watch`.
        let known = (command.verb?.options ?? verbs.flatMap(\.options)) + common
        guard word.hasPrefix("--"), let option = known.first(where: { $0.name == name }) else {
            throw .unknownOption(
                word.hasPrefix("--") ? "--" + name : word,
                suggestion: nearest(name, among: known.map(\.name)).map { "--" + $0 })
        }
        guard !command.has(name) || option.value == nil else { throw .repeated(option: name) }
        guard let placeholder = option.value else {
            guard parts.count == 1 else { throw .unwantedValue(option: name) }
            command.options[name] = ""
            return
        }
        if parts.count == 2 {
            command.options[name] = String(parts[1])
        } else if let value = rest.first, value == "-" || !value.hasPrefix("--") {
            command.options[name] = rest.removeFirst()
        } else {
            throw .missingValue(option: name, value: placeholder)
        }
    }
}
