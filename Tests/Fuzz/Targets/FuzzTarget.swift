// The fuzz targets by name: what each feeds on, and the promise it holds the code to.

/// A broken promise: not a crash, but an answer the code must never give.
package struct Violation: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String) { description = what }
}

/// Demands that a promise is kept.
/// - Throws: `Violation`.
func demand(_ kept: @autoclosure () -> Bool, _ what: @autoclosure () -> String) throws(Violation) {
    if !kept() { throw Violation(what()) }
}

/// One way into the code for bytes nobody vouches for. Folders of seeds and crashes are named by the raw values.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A YAML text.
    case yaml
    /// A JSON text, strict and lenient.
    case json
    /// Share links, plain and as base64.
    case links
    /// A subscription's body of any kind: recognised, read, migrated, merged, shaped.
    case subscription
    /// Header lines of an answer, and addresses.
    case headers
    /// A sing-box document: migrated and shaped.
    case documents
    /// The bytes of a command socket, in pieces.
    case frames

    /// Runs the code over an input. Errors the code itself throws are right answers.
    /// - Throws: `Violation`.
    package func run(_ input: [UInt8]) throws(Violation) {
        switch self {
        case .yaml: try Self.yaml(input)
        case .json: try Self.json(input)
        case .links: try Self.links(input)
        case .subscription: try Self.subscription(input)
        case .headers: try Self.headers(input)
        case .documents: try Self.documents(input)
        case .frames: try Self.frames(input)
        }
    }
}
