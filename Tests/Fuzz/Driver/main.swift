// The program `trocket-fuzz TARGET [libFuzzer's arguments…]`, built by scripts/fuzz only.

import CLibFuzzer
import FuzzTargets
import JSON
import Linux

/// The target of this process; libFuzzer's callbacks are C functions and can capture nothing.
nonisolated(unsafe) private var target = FuzzTarget.yaml

/// Called for each input.
private func one(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: data, count: size))
    do { try target.run(input) } catch { fatalError("\(target.rawValue): \(error)") }
    return 0
}

/// libFuzzer's hook for mutations of one's own: documents are damaged as trees half of the time, for a byte changed
/// blindly mostly ends in a syntax error.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ limit: Int, _ seed: CUnsignedInt) -> Int {
    if target == .documents || target == .subscription, seed & 1 == 1 {
        let source = Array(UnsafeBufferPointer(start: data, count: size))
        if let document = try? JSON.parse(source, dialect: .lenient) {
            var random = Seeded(state: UInt64(seed))
            let bytes = TreeDamage(document).damaged(&random).encoded()
            if !bytes.isEmpty, bytes.count <= limit {
                for (at, byte) in bytes.enumerated() { data[at] = byte }
                return bytes.count
            }
        }
    }
    return LLVMFuzzerMutate(data, size, limit)
}

guard CommandLine.arguments.count > 1, let chosen = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
    fatalError("usage: trocket-fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) [ARGUMENT…]")
}
target = chosen
var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exitProcess(LLVMFuzzerRunDriver(&count, &arguments, one))
