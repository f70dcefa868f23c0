// Styled text for a row of the terminal.

/// The colours the screen draws with.
package enum Colour: UInt8, Sendable {
    case standard, red, green, yellow, cyan
    /// Readable but quiet.
    case grey
    /// Black on white in any theme, for a camera.
    case blackOnWhite
}

/// How text is drawn.
package struct Attributes: Hashable, Sendable {
    /// The colour of the letters.
    package var colour: Colour
    /// Drawn bold.
    package var bold: Bool
    /// Drawn with front and back exchanged.
    package var reversed: Bool
    /// Stands for a colour where there are none.
    package var underlined: Bool

    package init(_ colour: Colour = .standard, bold: Bool = false, reversed: Bool = false, underlined: Bool = false) {
        self.colour = colour
        self.bold = bold
        self.reversed = reversed
        self.underlined = underlined
    }
}

/// A piece of a row in one style.
package struct Run: Hashable, Sendable {
    /// What is drawn.
    package let text: String
    /// How it is drawn.
    package let attributes: Attributes

    package init(_ text: String, _ attributes: Attributes = Attributes()) {
        self.text = text
        self.attributes = attributes
    }
}
