// Bytes as a QR code, made by libqrencode.

import CQrencode
package import Messages

/// QR codes. Source: ISO/IEC 18004; qrencode.h.
package enum QRCode {
    /// The smallest code that holds these bytes, with the lowest error correction: a screen has no scratches, but few cells.
    /// - Returns: nil for no bytes, and for more than a code can hold (2953).
    package static func encode(_ bytes: [UInt8]) -> ModuleGrid? {
        guard !bytes.isEmpty, let code = QRcode_encodeData(Int32(clamping: bytes.count), bytes, 0, QR_ECLEVEL_L)
        else { return nil }
        defer { QRcode_free(code) }
        let side = Int(code.pointee.width)
        guard let modules = code.pointee.data else { return nil }
        // The lowest bit says dark; the others say what the module is for.
        return ModuleGrid(side: side, dark: (0..<side * side).map { modules[$0] & 1 == 1 })
    }
}
