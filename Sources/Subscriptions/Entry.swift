// One entry of a subscription before it is converted, whatever dialect it came in.

internal import ImportReport

/// An entry in the order of the source.
struct Entry {
    enum Content {
        /// A node's fields.
        case node(Fields)
        /// A list item that is no mapping.
        case notAMap
        /// A link that could not even be read.
        case dropped(DroppedLine)
        /// A text for the user.
        case note(String)
    }

    var content: Content
    /// Where it stands, such as `line 17` or `entry 3`.
    var place: String

    init(_ content: Content, _ place: String) {
        self.content = content
        self.place = place
    }
}

/// What recognition makes of a text.
struct SourceDocument {
    var format: SubscriptionFormat
    var entries: [Entry] = []
    var groups = DialerGroups()
    var providers: [ProviderRequest] = []
    var notices: [Notice] = []
    var unusedGroups = 0
    var unusedRules = 0
}
