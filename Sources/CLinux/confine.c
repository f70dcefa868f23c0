// Confinement: Landlock (landlock(7)) and a seccomp deny-list (seccomp(2)). Structures are written out here because
// Debian 12's headers end at Landlock ABI 2.

#include "CLinux.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

struct ruleset_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};
struct __attribute__((packed)) path_beneath {
    uint64_t allowed_access;
    int32_t parent_fd;
};
_Static_assert(sizeof(struct path_beneath) == 12, "struct landlock_path_beneath_attr");

int cl_landlock_abi(void) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u);
    return abi < 0 ? -errno : (int)abi;
}

int cl_landlock_create(uint64_t handled_files, uint64_t handled_net, uint64_t scoped) {
    struct ruleset_attributes attributes = {handled_files, handled_net, scoped};
    // Older kernels refuse a longer structure only when the part they do not know is not zero (landlock_create_ruleset(2)).
    long fd = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    return fd < 0 ? -errno : (int)fd;
}

int cl_landlock_allow(int ruleset, int path_fd, uint64_t access) {
    struct path_beneath rule = {access, path_fd};
    return syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0) < 0 ? -errno : 0;
}

int cl_landlock_allow_port(int ruleset, unsigned port, uint64_t access) {
    struct {
        uint64_t allowed_access;
        uint64_t port;
    } rule = {access, port};
    return syscall(SYS_landlock_add_rule, ruleset, 2, &rule, 0) < 0 ? -errno : 0;
}

int cl_landlock_restrict(int ruleset) { return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0; }

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#error "no seccomp architecture for this machine"
#endif

static int install(struct sock_filter *code, unsigned short count) {
    struct sock_fprog program = {.len = count, .filter = code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

#define MAX_CALLS 96

int cl_seccomp_deny(const int *calls, int count) {
    if (count < 0 || count > MAX_CALLS) return -EINVAL;
    struct sock_filter code[MAX_CALLS + 8];
    unsigned short at = 0;
    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    // The x32 numbers would walk around the list.
    code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, (unsigned char)(count + 1), 0);
#endif
    for (int call = 0; call < count; call++) {
        code[at++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[call], (unsigned char)(count - call), 0);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    return install(code, at);
}

// The lower half of an argument; both architectures here are little-endian, and the kernel itself looks at an int.
#define ARGUMENT(number) (offsetof(struct seccomp_data, args) + (number) * sizeof(uint64_t))

int cl_seccomp_internet_only(void) {
    // Other architectures' calls and x32 are refused by cl_seccomp_deny, which goes with this.
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(2)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NETLINK_ROUTE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    return install(code, sizeof code / sizeof *code);
}

int cl_seccomp_threads_only(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 6, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_PDEATHSIG, 3, 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(code, sizeof code / sizeof *code);
}
