// What a command line may hold, as a value: verbs, their operands and options. Parsing, help and completion all read it.

package import Messages

/// One option, such as `--timeout 5s` or `--json`.
package struct OptionSpecification: Hashable, Sendable {
    /// What completion may offer as the option's value.
    package enum Completion: Hashable, Sendable {
        case nothing, file, directory
        case words([String])
    }

    /// The name without its dashes.
    package let name: String
    /// The value's name in the help, such as `SECONDS`; nil for a flag.
    package let value: String?
    /// One line for the help page.
    package let help: Text
    /// What a shell may offer for its value.
    package let completion: Completion

    package init(_ name: String, value: String? = nil, completion: Completion = .nothing, _ help: Text) {
        self.name = name
        self.value = value
        self.completion = completion
        self.help = help
    }
}

/// What stands after the verb without dashes.
package struct OperandSpecification: Hashable, Sendable {
    /// How many operands a verb takes.
    package enum Count: Hashable, Sendable {
        case one, optional, any
    }
    /// What completion may offer.
    package enum Completion: Hashable, Sendable {
        case nothing, file, line
        case words([String])
    }

    /// The name in the help, such as `LINE`.
    package let name: String
    /// How many there may be.
    package let count: Count
    /// What a shell may offer for it.
    package let completion: Completion

    package init(_ name: String, _ count: Count, completion: Completion = .nothing) {
        self.name = name
        self.count = count
        self.completion = completion
    }
}

/// One verb with everything it takes.
package struct VerbSpecification: Hashable, Sendable {
    /// The verb as it is typed.
    package let name: String
    /// One line, for the list of verbs.
    package let summary: Text
    /// More words, for the verb's own help.
    package let details: Text?
    /// What it takes besides options; nil for nothing.
    package let operand: OperandSpecification?
    /// The options of this verb alone.
    package let options: [OptionSpecification]

    package init(
        _ name: String, summary: Text, details: Text? = nil, operand: OperandSpecification? = nil,
        options: [OptionSpecification] = []
    ) {
        self.name = name
        self.summary = summary
        self.details = details
        self.operand = operand
        self.options = options
    }
}

/// A program's whole command line.
package struct CommandTable: Sendable {
    /// The program's name.
    package let program: String
    /// What the program is for, in one line.
    package let summary: Text
    /// The verbs, in the order of the help page.
    package let verbs: [VerbSpecification]
    /// Options every verb takes.
    package let common: [OptionSpecification]
    /// What stands at the end of the program's help.
    package let epilogue: Text?

    package init(
        program: String, summary: Text, verbs: [VerbSpecification], common: [OptionSpecification], epilogue: Text? = nil
    ) {
        self.program = program
        self.summary = summary
        self.verbs = verbs
        self.common = common
        self.epilogue = epilogue
    }

    /// The verb of this name.
    package func verb(_ name: String) -> VerbSpecification? { verbs.first { $0.name == name } }
}
