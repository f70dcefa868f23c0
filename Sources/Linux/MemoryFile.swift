// Files that live in memory only: how a configuration with secrets reaches another program without touching a disk.

import CLinux

/// A file in memory with this content, closed at exec unless handed on by `ChildRequest.descriptors`. Corresponds to
/// memfd_create(2).
/// - Parameter name: shown in /proc only.
package func memoryFile(_ name: String, holding bytes: [UInt8]) throws(SystemCallError) -> Descriptor {
    let file = Descriptor(owning: try check(cl_memory_file(name), "making a file in memory", name))
    try writeAll(file.number, bytes, subject: name)
    return file
}
