// Network namespaces for tests: a fresh one for the calling thread, others beside it, and commands run inside.

import CLinux
import Glibc
package import Linux

/// CLONE_NEWNET, a macro the importer leaves out.
private let newNetwork: Int32 = 0x4000_0000

/// True where namespaces can be made.
package let canMakeNamespaces = geteuid() == 0

/// Moves the calling thread into a fresh network namespace with its loopback up. Call it first in an exit test: the process
/// is the test's own. Ends the process when the namespace is not a fresh one, so that nothing is ever done to the host's.
package func enterFreshNamespace() {
    let before = namespaceIdentity()
    guard cl_unshare(newNetwork) == 0, namespaceIdentity() != before else {
        writeStandardError("cannot make a network namespace\n")
        _exit(99)
    }
    shell("ip link set lo up")
}

/// A second namespace beside the calling thread's, which stays where it is.
package func makeNamespace() throws -> Descriptor {
    let home = try currentNamespace()
    try check(cl_unshare(newNetwork), "making a network namespace")
    defer { _ = cl_setns(home.number, newNetwork) }
    return try currentNamespace()
}

/// Runs the body inside another namespace.
package func inside<Result>(_ namespace: borrowing Descriptor, _ body: () throws -> Result) throws -> Result {
    let home = try currentNamespace()
    try check(cl_setns(namespace.number, newNetwork), "entering a network namespace")
    defer { _ = cl_setns(home.number, newNetwork) }
    return try body()
}

/// The calling thread's namespace; `/proc/self` would be the leader's.
package func currentNamespace() throws -> Descriptor {
    let path = "/proc/thread-self/ns/net"
    return Descriptor(owning: try checkErrno("opening", path) { open(path, O_RDONLY | O_CLOEXEC) })
}

/// The path of a program found in the usual places.
private func find(_ name: String) -> String {
    for directory in ["/usr/sbin", "/usr/bin", "/sbin", "/bin"] where access("\(directory)/\(name)", X_OK) == 0 {
        return "\(directory)/\(name)"
    }
    return name
}

/// Runs a shell command in the calling thread's namespace and returns what it printed, errors included.
@discardableResult
package func shell(_ command: String) -> String {
    do {
        let pipe = try Pipe()
        var request = ChildRequest(path: find("sh"), arguments: ["sh", "-c", command])
        request.environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        request.descriptors = [1: pipe.writer.number, 2: pipe.writer.number]
        let child = try ChildProcess(starting: request)
        let reader = pipe.keepingReader()
        let output = try readAll(reader.number, limit: 1 << 22, subject: command)
        _ = child.wait()
        return String(decoding: output, as: UTF8.self)
    } catch {
        return "\(error)"
    }
}

/// Asks a shell question about what the kernel does on a thread of its own until the answer is yes. Ends the process, and says
/// so, when it is no for half a minute; so call it in an exit test.
package func waitUntil(_ what: String, _ question: String) {
    let answer = shell(
        "for _ in $(seq 1500); do { \(question); } >/dev/null 2>&1 && echo yes && break; sleep 0.02; done")
    guard answer == "yes\n" else {
        writeStandardError("waited in vain until \(what)\n")
        _exit(97)
    }
}

/// The output of a command as lines, tabs turned into single spaces, spaces at the end cut off.
package func lines(_ command: String) -> [String] {
    shell(command).split(separator: "\n").map { line in
        var text = String(line.map { $0 == "\t" ? " " : $0 })
        while text.last == " " { text.removeLast() }
        return text
    }
}

private func namespaceIdentity() -> UInt64 {
    guard let file = try? currentNamespace(), let status = try? FileStatus(of: file.number, subject: "namespace") else {
        return 0
    }
    return status.inode
}

/// A directory of the test's own below the system's temporary one; an exit test leaves it to `removeTemporaryDirectory`.
package func makeTemporaryDirectory() -> String {
    var template = Array("/tmp/trocket-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { _exit(98) }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Removes a directory made by `makeTemporaryDirectory`.
package func removeTemporaryDirectory(_ path: String) {
    precondition(path.hasPrefix("/tmp/trocket-test-"))
    shell("rm -rf '\(path)'")
}

/// From now on the process can make no socket at all (seccomp answers EPERM).
package func denySockets() throws {
    try check(cl_set_no_new_privs(), "setting no_new_privs")
    #if arch(x86_64)
        let calls: [Int32] = [41]
    #else
        let calls: [Int32] = [198]
    #endif
    try check(cl_seccomp_deny(calls, 1), "denying socket(2)")
}
