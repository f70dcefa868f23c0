// Giving up what root may do, for good, and reading back that it is gone.
//
// Theory of operation. The program starts as root and passes these stages, in this order:
//   baseline   descriptors, session, directory, mask, environment, signals. Mustn't trust anything inherited.
//   root work  reads its configuration, makes directories, listens. Mustn't read what others than root can write.
//   drop       `Privileges.drop`, in the engine host and in the worker. Should leave exactly the capabilities named.
//   confine    Landlock and seccomp, once everything that needs opening is open.

import CCapability
import CLinux
import Glibc
import Linux

/// A privilege that is not what it should be after dropping. The program must not go on.
package struct PrivilegeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was read back, such as "CapEff is 0x3000, not 0x1000".
    package let problem: String
    package init(_ problem: String) { self.problem = problem }
    package var description: String { "privileges could not be dropped: \(problem)" }
}

/// Dropping privileges. Concurrency: affects the calling thread only; call it while there is one.
package enum Privileges {
    /// Becomes this user and group with exactly these capabilities, no supplementary groups and no way back, and reads
    /// every item back.
    /// - Throws: `SystemCallError` for a call that failed, `PrivilegeError` for an item that reads back wrong.
    package static func drop(to user: UInt32, group: UInt32, keeping capabilities: [Capability]) throws {
        try check(cl_set_groups_empty(), "dropping the supplementary groups")
        try check(cl_set_ids_gid(group), "changing to group", "\(group)")
        for number in Int32(0)...63 where !capabilities.contains(Capability(rawValue: number)) {
            // The kernel ends the list with EINVAL; what it does not know cannot be held.
            if cl_drop_bounding(number) == -EINVAL { break }
        }
        try check(cl_set_keep_capabilities(1), "keeping capabilities")
        try check(cl_set_ids_uid(user), "changing to user", "\(user)")
        try check(cl_set_keep_capabilities(0), "keeping capabilities no longer")
        try set(capabilities)
        try check(cl_clear_ambient(), "clearing the ambient capabilities")
        try check(cl_set_no_new_privs(), "setting no_new_privs")
        try verify(
            try ProcessStatus.ofThisThread(), user: user, group: group, capabilities: CapabilitySet(capabilities))
        // A drop that can be taken back is none.
        guard cl_set_ids_uid(0) != 0 else { throw PrivilegeError("user 0 can be had back") }
    }

    /// Whether a status is what a drop should have left.
    /// - Throws: `PrivilegeError` naming the first item that is wrong.
    package static func verify(
        _ status: ProcessStatus, user: UInt32, group: UInt32, capabilities wanted: CapabilitySet
    ) throws(PrivilegeError) {
        func expect<Value: Equatable>(_ name: String, _ found: Value, _ wanted: Value) throws(PrivilegeError) {
            guard found == wanted else { throw PrivilegeError("\(name) is \(found), not \(wanted)") }
        }
        try expect("Uid", status.users, Array(repeating: user, count: 4))
        try expect("Gid", status.groups, Array(repeating: group, count: 4))
        try expect("Groups", status.supplementary, [])
        try expect("CapInh", status.inheritable, .none)
        try expect("CapPrm", status.permitted, wanted)
        try expect("CapEff", status.effective, wanted)
        try expect("CapAmb", status.ambient, .none)
        guard status.bounding.isSubset(of: wanted) else {
            throw PrivilegeError("CapBnd is \(status.bounding), more than \(wanted)")
        }
        try expect("NoNewPrivs", status.noNewPrivileges, true)
    }

    private static func set(_ capabilities: [Capability]) throws(SystemCallError) {
        guard let state = cap_init() else { throw SystemCallError("making a capability set", "", .noSpace) }
        defer { cap_free(UnsafeMutableRawPointer(state)) }
        let values = capabilities.map { cap_value_t($0.rawValue) }
        for flag in [CAP_PERMITTED, CAP_EFFECTIVE] where !values.isEmpty {
            try checkErrno("making a capability set") {
                cap_set_flag(state, flag, Int32(values.count), values, CAP_SET)
            }
        }
        try checkErrno("setting capabilities") { cap_set_proc(state) }
    }
}
