// Processes: namespaces, identities, limits, and the one way a child is started here.

#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <malloc.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(CL_NEWNET == CLONE_NEWNET && CL_NEWUSER == CLONE_NEWUSER && CL_NEWNS == CLONE_NEWNS, "namespace flags");

static int outcome(int value) { return value < 0 ? -errno : value; }

int cl_setns(int fd, int type) { return outcome(setns(fd, type)); }
int cl_unshare(int flags) { return outcome(unshare(flags)); }
int cl_fork(void) { return outcome(fork()); }
int cl_setsid(void) { return outcome(setsid()); }
int cl_set_no_new_privs(void) { return outcome(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)); }
int cl_set_dumpable(int on) { return outcome(prctl(PR_SET_DUMPABLE, on, 0, 0, 0)); }
int cl_set_parent_death_signal(int signal) { return outcome(prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0)); }
int cl_set_keep_capabilities(int on) { return outcome(prctl(PR_SET_KEEPCAPS, on, 0, 0, 0)); }
int cl_set_subreaper(int on) { return outcome(prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0)); }
int cl_drop_bounding(int capability) { return outcome(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)); }
int cl_clear_ambient(void) { return outcome(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)); }
int cl_set_groups_empty(void) { return outcome(setgroups(0, NULL)); }
int cl_set_ids_gid(unsigned gid) { return outcome(setresgid(gid, gid, gid)); }
int cl_set_ids_uid(unsigned uid) { return outcome(setresuid(uid, uid, uid)); }
int cl_set_name(const char *name) { return outcome(prctl(PR_SET_NAME, name, 0, 0, 0)); }

int cl_set_limit(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit limit = {soft, hard};
    return outcome(setrlimit((__rlimit_resource_t)resource, &limit));
}

int cl_clear_environment(void) { return clearenv() ? -ENOMEM : 0; }

int cl_reset_signals(void) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    sigset_t empty;
    sigemptyset(&empty);
    return outcome(sigprocmask(SIG_SETMASK, &empty, NULL));
}

int cl_fill_standard_descriptors(void) {
    for (;;) {
        int fd = open("/dev/null", O_RDWR);
        if (fd < 0) return -errno;
        if (fd > 2) {
            close(fd);
            return 0;
        }
    }
}

int cl_change_owner(int fd, unsigned uid, unsigned gid) { return outcome(fchown(fd, uid, gid)); }
unsigned cl_set_file_mask(unsigned mask) { return umask(mask); }

// Segments that are not writable hold what the file holds: relocations are in writable ones (there are no text relocations).
static int release_segments(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int at = 0; at < object->dlpi_phnum; at++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[at];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W || !segment->p_filesz) continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void cl_release_memory(void) {
    dl_iterate_phdr(release_segments, NULL);
    malloc_trim(0);
}

int cl_random(void *bytes, size_t count) {
    char *at = bytes;
    while (count > 0) {
        ssize_t got = getrandom(at, count, 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            return -errno;
        }
        at += got;
        count -= (size_t)got;
    }
    return 0;
}

int cl_user_by_name(const char *name, unsigned *uid, unsigned *gid) {
    errno = 0;
    struct passwd *entry = getpwnam(name);
    if (!entry) return errno ? -errno : 0;
    *uid = entry->pw_uid;
    *gid = entry->pw_gid;
    return 1;
}

int cl_group_by_name(const char *name, unsigned *gid) {
    errno = 0;
    struct group *entry = getgrnam(name);
    if (!entry) return errno ? -errno : 0;
    *gid = entry->gr_gid;
    return 1;
}

int cl_group_members(const char *name, unsigned *uids, int capacity) {
    struct group *entry = getgrnam(name);
    if (!entry) return 0;
    // getpwnam may share storage with getgrnam's result, so the names are copied first.
    char *names[256];
    int total = 0;
    for (char **member = entry->gr_mem; *member && total < 256; member++) {
        names[total] = strdup(*member);
        if (!names[total]) break;
        total++;
    }
    int found = 0;
    for (int at = 0; at < total; at++) {
        unsigned uid, gid;
        if (found < capacity && cl_user_by_name(names[at], &uid, &gid) == 1) uids[found++] = uid;
        free(names[at]);
    }
    return found;
}

// Child side of cl_spawn. Only async-signal-safe calls; the parent may have had threads.
struct failure {
    int error;
    int stage;
};
static const char *const stages[] = {
    "duplicating descriptors", "closing descriptors", "starting a session", "changing directory", "setting limits",
    "setting the parent-death signal", "setting no_new_privs", "entering Landlock", "installing the seccomp filter",
    "executing the program", "forking",
};
enum stage { DUPLICATE, CLOSE, SESSION, DIRECTORY, LIMITS, DEATH, PRIVILEGES, LANDLOCK, SECCOMP, EXECUTE, FORK };
#define HIGH 128

static void fail(int report, int stage) {
    struct failure failure = {errno ? errno : EINVAL, stage};
    ssize_t ignored = write(report, &failure, sizeof failure);
    (void)ignored;
    _exit(127);
}

static void run_child(const struct cl_spawn_request *request, int report, pid_t parent) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);

    int high_report = fcntl(report, F_DUPFD_CLOEXEC, HIGH);
    if (high_report < 0) fail(report, DUPLICATE);
    report = high_report;
    int landlock = request->landlock;
    if (landlock >= 0 && (landlock = fcntl(landlock, F_DUPFD_CLOEXEC, HIGH)) < 0) fail(report, DUPLICATE);
    int copies[32];
    if (request->map_count > 32) {
        errno = EINVAL;
        fail(report, DUPLICATE);
    }
    for (int at = 0; at < request->map_count; at++) {
        copies[at] = fcntl(request->map_from[at], F_DUPFD_CLOEXEC, HIGH);
        if (copies[at] < 0) fail(report, DUPLICATE);
    }
    if (syscall(SYS_close_range, 0, ~0u, CL_CLOSE_RANGE_CLOEXEC) < 0) fail(report, CLOSE);
    for (int at = 0; at < request->map_count; at++) {
        if (dup2(copies[at], request->map_to[at]) < 0) fail(report, DUPLICATE);
    }
    if (request->new_session && setsid() < 0) fail(report, SESSION);
    if (request->directory && chdir(request->directory) < 0) fail(report, DIRECTORY);
    umask(request->file_mask);
    for (int at = 0; at < request->limit_count; at++) {
        if (cl_set_limit(request->limits[at].resource, request->limits[at].soft, request->limits[at].hard) < 0)
            fail(report, LIMITS);
    }
    if (request->parent_death_signal) {
        if (prctl(PR_SET_PDEATHSIG, request->parent_death_signal, 0, 0, 0) < 0) fail(report, DEATH);
        // The parent may have died before the request was in force.
        if (getppid() != parent) {
            errno = ESRCH;
            fail(report, DEATH);
        }
    }
    if (request->no_new_privs && cl_set_no_new_privs() < 0) fail(report, PRIVILEGES);
    if (landlock >= 0 && (errno = -cl_landlock_restrict(landlock)) > 0) fail(report, LANDLOCK);
    if (request->internet_only && (errno = -cl_seccomp_internet_only()) > 0) fail(report, SECCOMP);
    if (request->threads_only && (errno = -cl_seccomp_threads_only()) > 0) fail(report, SECCOMP);
    if (request->denied_count > 0 && (errno = -cl_seccomp_deny(request->denied_calls, request->denied_count)) > 0)
        fail(report, SECCOMP);
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    execve(request->path, (char *const *)request->arguments, (char *const *)request->environment);
    fail(report, EXECUTE);
}

int cl_spawn(const struct cl_spawn_request *request, int *pidfd, const char **stage) {
    int report[2];
    *stage = stages[FORK];
    if (pipe2(report, O_CLOEXEC) < 0) return -errno;
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid_t parent = getpid();
    pid_t pid = fork();
    int error = errno;
    if (pid == 0) run_child(request, report[1], parent);
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        return -error;
    }
    struct failure failure;
    ssize_t count;
    do {
        count = read(report[0], &failure, sizeof failure);
    } while (count < 0 && errno == EINTR);
    close(report[0]);
    if (count == sizeof failure) {
        int ignored;
        cl_reap(pid, 1, &ignored);
        *stage = stages[failure.stage];
        return -failure.error;
    }
    int descriptor = cl_pidfd_open(pid);
    if (descriptor < 0) {
        int ignored;
        kill(pid, SIGKILL);
        cl_reap(pid, 1, &ignored);
        return descriptor;
    }
    *pidfd = descriptor;
    return pid;
}
