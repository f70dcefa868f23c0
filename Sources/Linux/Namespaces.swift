// Namespaces held by descriptor: which they are, whose they are, and entering them (namespaces(7), ioctl_ns(2)).

import CLinux
import Glibc

/// The kinds of namespace used here.
package enum NamespaceKind: Sendable {
    case user, network

    fileprivate var flag: Int32 { self == .user ? Int32(CL_NEWUSER) : Int32(CL_NEWNET) }
    /// The name below /proc/PID/ns.
    package var name: String { self == .user ? "user" : "net" }
}

/// A namespace as the kernel tells them apart.
package struct NamespaceIdentity: Hashable, Sendable {
    /// The device of the namespace's file (stat(2)).
    package let device: UInt64
    /// Its inode, which names the namespace.
    package let inode: UInt64

    /// The namespace behind an open descriptor.
    /// - Throws: `SystemCallError`; `invalid` when the descriptor is of another kind.
    package init(of descriptor: Int32, kind: NamespaceKind) throws(SystemCallError) {
        let found = try check(cl_namespace_type(descriptor), "looking at a namespace")
        guard found == kind.flag else { throw SystemCallError("looking at a namespace", kind.name, .invalid) }
        let status = try FileStatus(of: descriptor, subject: "a namespace")
        device = status.device
        inode = status.inode
    }

    /// The namespace this thread is in.
    package init(ofThisThread kind: NamespaceKind) throws(SystemCallError) {
        let path = "/proc/thread-self/ns/\(kind.name)"
        let file = Descriptor(owning: try checkErrno("opening", path) { open(path, O_RDONLY | O_CLOEXEC) })
        try self.init(of: file.number, kind: kind)
    }

    /// The user namespace that owns a namespace. Corresponds to ioctl_ns(2) NS_GET_USERNS.
    package init(ownerOf descriptor: Int32) throws(SystemCallError) {
        let owner = Descriptor(
            owning: try check(cl_namespace_owner(descriptor), "asking whose a namespace is"))
        try self.init(of: owner.number, kind: .user)
    }
}

/// Enters a namespace with the calling thread, for good. Corresponds to setns(2).
package func enterNamespace(_ descriptor: Int32, _ kind: NamespaceKind) throws(SystemCallError) {
    try check(cl_setns(descriptor, kind.flag), "entering a namespace", kind.name)
}

/// Whether this user may make user namespaces, tried in a copy of this process.
/// - Throws: `SystemCallError` when it cannot even be tried.
package func canMakeUserNamespaces() throws(SystemCallError) -> Bool {
    // The UTS namespace tells a new user namespace that grants capabilities from one that an LSM has emptied.
    let newUTS: Int32 = 0x0400_0000
    let child = try ForkedChild.run {
        let made = cl_unshare(Int32(CL_NEWUSER))
        return made == 0 && cl_unshare(newUTS) == 0 ? 0 : 1
    }
    var code: Int32 = 1
    _ = cl_reap(child, 1, &code)
    return code == 0
}
