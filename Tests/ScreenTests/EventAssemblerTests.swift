// Keys and pastes as ncurses delivers them, and the clipboard's encoding.

import Screen
import Testing

@Suite struct EventAssemblerTests {
    private func events(_ inputs: [EventAssembler.Input]) -> [Event] {
        var assembler = EventAssembler()
        return assembler.take(inputs)
    }

    @Test(
        arguments: [
            (0x71, Event.character("q")), (0x9999, .character("香")), (0x0d, .enter), (0x1b, .escape),
            (0x7f, .backspace),
            (0x08, .backspace), (0x09, .tab), (0x03, .control("c")), (0x1a, .control("z")), (0x0c, .control("l")),
        ] as [(UInt32, Event)])
    func scalars(_ value: UInt32, _ event: Event) { #expect(events([.scalar(value)]) == [event]) }

    @Test func invalidScalarsAreIgnored() { #expect(events([.scalar(0xd800), .scalar(0x11_0000)]).isEmpty) }

    @Test func pasteIsOneEvent() {
        let inputs: [EventAssembler.Input] = [
            .pasteBegin, .scalar(0x61), .scalar(0x0d), .key(.enter), .key(.up), .scalar(0x1b), .scalar(0x62), .pasteEnd,
            .scalar(0x63),
        ]
        #expect(events(inputs) == [.paste("a\n\n\u{1b}b"), .character("c")])
    }

    /// Keys and reports terminfo does not name: F15 of others, Ctrl-Enter, device attributes, focus, SS3, colours.
    @Test(arguments: [
        "\u{1b}[28~", "\u{1b}[27;5;13~", "\u{1b}[97;5u", "\u{1b}[?1;2c", "\u{1b}[I", "\u{1b}Oq",
        "\u{1b}]11;rgb:k/t/q\u{7}",
        "\u{1b}P>|tmux q\u{1b}\\",
    ])
    func unknownSequencesAreSwallowed(_ text: String) {
        let sequence = text.unicodeScalars.map { EventAssembler.Input.scalar($0.value) }
        #expect(events(sequence) == [])
        #expect(events([.scalar(0x61)] + sequence + [.scalar(0x62)]) == [.character("a"), .character("b")])
        #expect(events(sequence + [.key(.up)]) == [.up])
    }

    @Test func escapeIsAKeyWhereNothingFollows() {
        #expect(events([.scalar(0x1b), .scalar(0x1b)]) == [.escape, .escape])
        #expect(events([.scalar(0x1b), .scalar(0x78)]) == [.escape, .character("x")])
        #expect(events([.scalar(0x1b), .key(.down)]) == [.escape, .down])
        #expect(
            events([.scalar(0x1b), .pasteBegin, .scalar(0x1b), .scalar(0x5b), .pasteEnd]) == [
                .escape, .paste("\u{1b}["),
            ])
        var assembler = EventAssembler()
        #expect(assembler.take([.scalar(0x1b), .scalar(0x5b)]) == [])
        #expect(assembler.take([.scalar(0x71)]) == [.character("q")])
        #expect(assembler.take([.pasteBegin, .scalar(0x61)]) == [])
        #expect(assembler.take([.scalar(0x62), .pasteEnd]) == [.paste("ab")])
    }

    @Test func endWithoutBeginIsNothing() { #expect(events([.pasteEnd, .key(.down)]) == [.down]) }
}
