// The subscription's link as a QR code: for a phone, shown only where it was asked for.

import JSON
import Linux
import Messages
import QRCode
import Store

/// The link, which is a secret, as modules.
enum LinkCode {
    /// Makes the code of the stored link.
    /// - Throws: `StoreError`, `Failure` when there is no link or it is too long.
    static func make(_ context: Context) throws -> ModuleGrid {
        guard let record = try context.state().load().subscription else { throw StoreError.noSubscription }
        guard let link = record.link else {
            throw Failure("no-link", .failed, Messages.noLink, remedy: Messages.noLinkRemedy)
        }
        guard let code = QRCode.encode(Array(link.utf8)) else {
            throw Failure("link-too-long", .failed, Messages.linkTooLong, remedy: Messages.linkTooLongRemedy)
        }
        return code
    }

    /// Prints it. Where standard output is no terminal that can show it, only when forced.
    /// - Throws: as `make`, and `Failure` when there is no terminal or no room.
    static func show(_ context: Context, isForced: Bool) throws {
        let isTerminal = Surroundings.isTerminal(1) && context.variable("TERM") != "dumb"
        guard isTerminal || isForced || context.output.json else {
            throw Failure("no-terminal", .usage, Messages.codeNeedsTerminal, remedy: Messages.codeNeedsTerminalRemedy)
        }
        let code = try make(context)
        if context.output.json {
            let rows = (0..<code.side).map { row in
                String((0..<code.side).map { code.isDark(row: row, column: $0) ? "1" : "0" } as [Character])
            }
            return context.output.result(["qr": .array(rows.map { .string($0) })])
        }
        let drawing: ModuleGrid.Drawing = isUnicode(context.variable) ? .halfBlocks : .blanks
        guard let rows = code.drawn(drawing, columns: isTerminal ? context.output.columns : .max) else {
            let needed = code.cells(drawing).columns
            throw Failure(
                "window-too-narrow", .failed, Messages.codeTooWide(needed, context.output.columns),
                remedy: Messages.codeTooWideRemedy)
        }
        context.output.note(Messages.codeIsSecret)
        ModuleGrid.escaped(rows).forEach { context.output.drawing($0) }
    }

    /// Whether the locale's characters are UTF-8. See locale(7).
    private static func isUnicode(_ variable: (String) -> String?) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { variable($0) }.first { !$0.isEmpty } ?? ""
        return locale.lowercased().hasSuffix("utf-8") || locale.lowercased().hasSuffix("utf8")
    }
}
