// Why one line of a subscription cannot be used, thrown while it is converted.

internal import ImportReport

/// The reason a node is dropped. It never costs the nodes beside it.
struct Fault: Error {
    var reason: DropReason
    var field: String?

    init(_ reason: DropReason, _ field: String? = nil) {
        self.reason = reason
        self.field = field
    }

    static func missing(_ field: String) -> Fault { Fault(.missingField, field) }
    static func bad(_ field: String) -> Fault { Fault(.badField, field) }
}
