// The system calls each process is refused (seccomp(2)); what they would be good for is only harm.

import CLinux

/// Lists of system call numbers of this machine's architecture, to be answered with EPERM.
package enum DeniedCalls {
    /// Refused to all: spying on other processes, mounting, kernel code, keys, clocks, memory that outlives its maker, and
    /// doors that were bugs before.
    private static let always: [Int32] =
        [
            SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd, SYS_process_madvise,
            SYS_perf_event_open, SYS_userfaultfd, SYS_bpf, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
            SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr,
            SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_add_key, SYS_request_key,
            SYS_keyctl, SYS_swapon, SYS_swapoff, SYS_reboot, SYS_acct, SYS_quotactl, SYS_settimeofday,
            SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_vhangup,
            SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_io_uring_setup, SYS_io_uring_enter,
            SYS_io_uring_register, SYS_fanotify_init, SYS_syslog, SYS_personality, SYS_lookup_dcookie, SYS_mbind,
            SYS_migrate_pages, SYS_move_pages, SYS_set_mempolicy, SYS_remap_file_pages, SYS_shmget, SYS_semget,
            SYS_msgget,
            SYS_mq_open,
        ].map { Int32($0) } + ofThisArchitecture

    #if arch(x86_64)
        private static let ofThisArchitecture = [
            SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_kexec_file_load, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl,
        ].map { Int32($0) }
        private static let attributesOfThisArchitecture = [Int32(SYS_chmod)]
        private static let starting = [SYS_execve, SYS_execveat, SYS_fork, SYS_vfork, SYS_clone, SYS_clone3].map {
            Int32($0)
        }
    #else
        private static let ofThisArchitecture: [Int32] = [Int32(SYS_kexec_file_load)]
        private static let attributesOfThisArchitecture: [Int32] = []
        private static let starting = [SYS_execve, SYS_execveat, SYS_clone, SYS_clone3].map { Int32($0) }
    #endif

    /// Changing users, entering or making namespaces.
    private static let identity = [
        SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_setfsuid,
        SYS_setfsgid, SYS_capset, SYS_setns, SYS_unshare,
    ].map { Int32($0) }

    /// Changing modes, attributes and access lists, which Landlock leaves to whoever owns a file: an engine could close its
    /// successors' directory to them, and the log's. The last two: fchmodat2 and setxattrat, which headers may not know.
    private static let attributes =
        [SYS_fchmod, SYS_fchmodat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, 452, 463].map { Int32($0) }
        + attributesOfThisArchitecture

    /// For the engine, which starts helpers of its own inside a namespace of its own.
    package static let engine = always + attributes
    /// For the engine host, which starts the engine and enters its namespaces.
    package static let engineHost = always
    /// For the worker, which starts nothing and becomes nobody.
    package static let worker = always + starting + identity

    /// Puts a list in force for this thread and everything it starts.
    package static func refuse(_ calls: [Int32]) throws(SystemCallError) {
        try check(cl_seccomp_deny(calls, Int32(calls.count)), "installing the seccomp filter")
    }
}
