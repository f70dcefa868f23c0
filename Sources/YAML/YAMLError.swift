// Why a YAML text could not be read, and how much of one is accepted.

/// Why a text is not YAML we accept, and where.
package struct YAMLError: Error, Hashable, CustomStringConvertible {
    /// What kind of failure it is.
    package enum Kind: Sendable, Hashable {
        /// The text breaks YAML's grammar.
        case syntax
        /// The text is larger or deeper than the limits allow.
        case limit
    }

    /// What went wrong.
    package let kind: Kind
    /// What is wrong, as a short English phrase without any of the text itself (it may hold secrets).
    package let problem: String
    /// The line, from 1.
    package let line: Int
    /// The line where the construct begins that could not be finished, such as an open quote or brace; nil when
    /// unknown.
    package let start: Int?

    init(kind: Kind, problem: String, line: Int, start: Int? = nil) {
        self.kind = kind
        self.problem = problem
        self.line = line
        self.start = start
    }

    package var description: String { "line \(line): \(problem)" }
}

/// How much a document may hold; beyond it parsing ends with an error, so that memory and time stay bounded.
package struct YAMLLimits: Sendable {
    /// How deep sequences and mappings may nest.
    package var depth = 64
    /// How many nodes all aliases and merge keys together may stand for.
    package var expandedNodes = 1_000_000
    /// How many nodes may be written out.
    package var nodes = 4_000_000
    /// How many bytes the text may have.
    package var bytes = 32 << 20

    package init() {}
}
