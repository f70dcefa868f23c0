// Keys and pastes as ncurses delivers them, and the clipboard's encoding.

import Screen
import Testing

@Suite struct EventAssemblerTests {
    private func events(_ inputs: [EventAssembler.Input]) -> [Event] {
        var assembler = EventAssembler()
        return inputs.compactMap { assembler.take($0) }
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

    @Test func endWithoutBeginIsNothing() { #expect(events([.pasteEnd, .key(.down)]) == [.down]) }
}
