// From the dashboard's frames to the terminal's rows, and from the terminal's events to the dashboard's keys.

import Dashboard
import Screen

/// The two translations between `Dashboard`, which knows no terminal, and `Screen`, which knows no tunnel.
enum Painting {
    /// The rows of a frame in the terminal's colours.
    static func runs(_ frame: Frame) -> [[Run]] {
        frame.rows.map { row in row.spans.map { Run($0.text, attributes($0.style)) } }
    }

    /// The key an event is.
    static func key(_ event: Event) -> Key {
        switch event {
        case .character(let scalar): .character(Character(scalar))
        case .control(let letter): .control(letter)
        case .enter: .enter
        case .escape: .escape
        case .tab: .tab
        case .backspace: .backspace
        case .delete: .delete
        case .up: .up
        case .down: .down
        case .left: .left
        case .right: .right
        case .pageUp: .pageUp
        case .pageDown: .pageDown
        case .home: .home
        case .end: .end
        case .click(let row, let column): .click(row: row, column: column)
        case .wheelUp: .wheelUp
        case .wheelDown: .wheelDown
        case .paste(let text): .paste(text)
        }
    }

    /// Without colours what is bad is underlined, and what stands out is bold anyway.
    private static func attributes(_ style: Style) -> Attributes {
        let colour: Colour =
            switch style.tone {
            case .plain: .standard
            case .faint: .grey
            case .good: .green
            case .fair: .yellow
            case .bad: .red
            case .accent: .cyan
            case .printed: .blackOnWhite
            }
        return Attributes(colour, bold: style.bold, reversed: style.reversed, underlined: style.tone == .bad)
    }
}
