// Linux calls the Swift importer cannot express: variadic calls, macros, and calls glibc hides behind _GNU_SOURCE.
// Every function returns a value >= 0, or -errno. Nothing here decides anything that Swift could decide.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

// --- descriptors.c ---------------------------------------------------------------------------------------------------
/// pipe2(2) with O_CLOEXEC: out[0] reads, out[1] writes.
int cl_pipe(int out[2]);
/// close_range(2) over [first, last]; flags 0 closes, CL_CLOSE_RANGE_CLOEXEC marks.
int cl_close_range(unsigned first, unsigned last, unsigned flags);
#define CL_CLOSE_RANGE_CLOEXEC 4u
/// fcntl F_DUPFD_CLOEXEC: a copy numbered at least `minimum`.
int cl_duplicate(int fd, int minimum);
/// fcntl: O_NONBLOCK on or off.
int cl_set_nonblocking(int fd, int on);
/// openat2(2). resolve: the RESOLVE_* bits below; open_flags gain O_CLOEXEC.
int cl_openat2(int directory, const char *path, int open_flags, unsigned mode, uint64_t resolve);
#define CL_O_PATH 010000000
#define CL_RESOLVE_NO_SYMLINKS 0x04u
#define CL_RESOLVE_BENEATH 0x08u
/// fstat(2), the fields that matter here.
struct cl_status {
    unsigned mode;
    unsigned uid;
    unsigned gid;
    int64_t size;
    int64_t modified_seconds;
    uint64_t device;
    uint64_t inode;
};
int cl_status(int fd, struct cl_status *out);
/// memfd_create(2) with MFD_CLOEXEC.
int cl_memory_file(const char *name);
/// ioctl NS_GET_NSTYPE / NS_GET_USERNS on a namespace descriptor (ioctl_ns(2)).
int cl_namespace_type(int fd);
int cl_namespace_owner(int fd);

// --- sockets.c -------------------------------------------------------------------------------------------------------
/// A listening AF_UNIX SOCK_STREAM socket at path (replacing a dead one), non-blocking, with this mode.
int cl_unix_listen(const char *path, unsigned mode, int backlog);
/// A connected AF_UNIX SOCK_STREAM socket.
int cl_unix_connect(const char *path);
/// socketpair(2) AF_UNIX, SOCK_SEQPACKET or SOCK_STREAM, CLOEXEC.
int cl_socket_pair(int stream, int out[2]);
/// accept4(2) with CLOEXEC | NONBLOCK.
int cl_accept(int fd);
/// SO_PEERCRED (unix(7)).
int cl_peer_credentials(int fd, int *pid, unsigned *uid, unsigned *gid);
/// SO_PEERGROUPS: the number of groups written to out, at most `capacity`; -ERANGE when there are more.
int cl_peer_groups(int fd, unsigned *out, int capacity);
/// sendmsg(2) with MSG_NOSIGNAL and up to 8 descriptors (SCM_RIGHTS). Returns bytes sent.
long cl_send(int fd, const void *bytes, size_t count, const int *descriptors, int descriptor_count);
/// recvmsg(2) with MSG_CMSG_CLOEXEC; descriptors received go to out, their number to *descriptor_count (at most 8).
long cl_receive(int fd, void *bytes, size_t capacity, int *descriptors, int *descriptor_count);

/// A free TCP port on 127.0.0.1, found by binding and letting go.
int cl_free_loopback_port(void);
/// Begins to connect to 127.0.0.1:port over TCP, non-blocking: the descriptor, whose writability tells the end.
int cl_connect_loopback(unsigned port);
/// SO_ERROR: 0 or -errno of what a non-blocking connect came to.
int cl_socket_error(int fd);
/// Whether this descriptor is a listening AF_UNIX stream socket: 1 or 0.
int cl_is_unix_listener(int fd);

// --- polling.c -------------------------------------------------------------------------------------------------------
int cl_epoll_create(void);
int cl_epoll_control(int epoll, int operation, int fd, uint32_t events, uint64_t token);
#define CL_EPOLL_ADD 1
#define CL_EPOLL_DELETE 2
#define CL_EPOLL_MODIFY 3
#define CL_READABLE 0x001u
#define CL_WRITABLE 0x004u
#define CL_ERROR 0x008u
#define CL_HANGUP 0x010u
#define CL_READ_HANGUP 0x2000u
/// epoll_wait(2); timeout in milliseconds, -1 for ever. Retries on EINTR only when the timeout is -1.
int cl_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int capacity, int timeout_ms);
/// timerfd_create(2) on CLOCK_BOOTTIME, non-blocking. It counts time spent suspended.
int cl_timer_create(void);
/// Arms for an absolute CLOCK_BOOTTIME moment in nanoseconds; 0 disarms.
int cl_timer_set(int fd, uint64_t at_nanoseconds);
/// timerfd_create(2), non-blocking, that becomes readable when the clock is set or the machine wakes from a suspend.
int cl_clock_watch(void);
/// inotify(7), non-blocking, watching a directory for files written and closed or moved in.
int cl_watch_directory(const char *path);
/// signalfd(2) for these signals, blocking them first in this thread. Call before any thread exists.
int cl_signal_descriptor(const int *signals, int count);
/// The next signal number from a signalfd and who sent it; 0 when none waits.
int cl_signal_next(int fd, int *sender_pid);
int cl_pidfd_open(int pid);
int cl_pidfd_send_signal(int pidfd, int signal);
/// CLOCK_BOOTTIME and CLOCK_REALTIME in nanoseconds.
uint64_t cl_clock_boot(void);
uint64_t cl_clock_real(void);
/// Nanoseconds this machine has been suspended since it was started.
uint64_t cl_clock_asleep(void);
/// waitpid(2) with WNOHANG on one child: 0 still running, else pid; *code is the exit status, or 128+signal.
int cl_reap(int pid, int block, int *code);
/// Resets SIGPIPE to ignored and empties the signal mask of this thread.
int cl_ignore_sigpipe(void);

// --- process.c -------------------------------------------------------------------------------------------------------
int cl_setns(int fd, int type);
int cl_unshare(int flags);
#define CL_NEWNET 0x40000000
#define CL_NEWUSER 0x10000000
#define CL_NEWNS 0x00020000
/// fork(2): only for a process that still has one thread.
int cl_fork(void);
int cl_setsid(void);
int cl_set_no_new_privs(void);
int cl_set_dumpable(int on);
int cl_set_parent_death_signal(int signal);
int cl_set_keep_capabilities(int on);
/// prctl(2) PR_SET_CHILD_SUBREAPER: orphans among our descendants become our children.
int cl_set_subreaper(int on);
int cl_drop_bounding(int capability);
int cl_clear_ambient(void);
int cl_set_groups_empty(void);
int cl_set_ids_gid(unsigned gid);
int cl_set_ids_uid(unsigned uid);
int cl_set_name(const char *name);
int cl_set_limit(int resource, uint64_t soft, uint64_t hard);
int cl_clear_environment(void);
/// Default action for every signal, empty mask.
int cl_reset_signals(void);
/// Opens /dev/null as 0, 1 or 2 where nothing is open.
int cl_fill_standard_descriptors(void);
/// chown(2) through a descriptor; umask(2); the parent's pid.
int cl_change_owner(int fd, unsigned uid, unsigned gid);
unsigned cl_set_file_mask(unsigned mask);
int cl_random(void *bytes, size_t count);
/// User and group look-ups (getpwnam(3), getgrnam(3)): 1 found, 0 absent.
int cl_user_by_name(const char *name, unsigned *uid, unsigned *gid);
int cl_group_by_name(const char *name, unsigned *gid);
/// The uids of the members a group lists (getgrnam(3) gr_mem), at most capacity.
int cl_group_members(const char *name, unsigned *uids, int capacity);

/// Lets go of pages that can be had again at any time: code and constants of loaded files (madvise(2) MADV_DONTNEED on
/// segments that are not writable) and free memory of malloc (malloc_trim(3)).
void cl_release_memory(void);

struct cl_limit {
    int resource;
    uint64_t soft;
    uint64_t hard;
};

/// What cl_spawn starts and how it is confined. Descriptors not in the map are closed at exec.
struct cl_spawn_request {
    const char *path;
    const char *const *arguments;    // NULL-terminated
    const char *const *environment;  // NULL-terminated
    const char *directory;           // NULL: unchanged
    const int *map_from;             // open descriptors …
    const int *map_to;               // … and the numbers (0…99) the child sees them as
    int map_count;
    int parent_death_signal;  // 0: none
    int new_session;
    int no_new_privs;
    int landlock;  // a ruleset descriptor, or -1
    const int *denied_calls;  // system call numbers that return EPERM
    int denied_count;
    int internet_only;  // sockets of other kinds return EPERM, see cl_seccomp_internet_only
    int threads_only;   // starts no process, see cl_seccomp_threads_only
    const struct cl_limit *limits;
    int limit_count;
    unsigned file_mask;
};
/// fork, set up, execve. Signals are default and unblocked in the child. Returns the pid (and its pidfd), or -errno with
/// the name of the step that failed in *stage.
int cl_spawn(const struct cl_spawn_request *request, int *pidfd, const char **stage);

// --- confine.c -------------------------------------------------------------------------------------------------------
/// The Landlock ABI of this kernel (landlock(7)); -ENOSYS or -EOPNOTSUPP where it is missing.
int cl_landlock_abi(void);
/// A ruleset handling these access bits; scoped needs ABI 6.
int cl_landlock_create(uint64_t handled_files, uint64_t handled_net, uint64_t scoped);
/// Allows access beneath an O_PATH descriptor.
int cl_landlock_allow(int ruleset, int path_fd, uint64_t access);
/// Allows access (bind: 1, connect: 2) to a TCP port (ABI 4); port 0 stands for "any free one" when binding.
int cl_landlock_allow_port(int ruleset, unsigned port, uint64_t access);
int cl_landlock_restrict(int ruleset);
/// Installs a seccomp filter: the listed calls return EPERM, everything else is allowed (seccomp(2)).
int cl_seccomp_deny(const int *calls, int count);
/// Installs a seccomp filter: socket(2) makes IPv4, IPv6 and routing netlink sockets only, everything else returns EPERM.
int cl_seccomp_internet_only(void);
/// Installs a seccomp filter: clone(2) makes threads only, other ways to make a process return EPERM (clone3(2) ENOSYS, upon
/// which everybody uses clone), and PR_SET_PDEATHSIG (prctl(2)) stays as it is.
int cl_seccomp_threads_only(void);
