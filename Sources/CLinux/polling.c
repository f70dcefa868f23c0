// Waiting: epoll, timers, signals, children, clocks.

#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(CL_EPOLL_ADD == EPOLL_CTL_ADD && CL_EPOLL_DELETE == EPOLL_CTL_DEL && CL_EPOLL_MODIFY == EPOLL_CTL_MOD,
               "epoll operations");
_Static_assert(CL_READABLE == EPOLLIN && CL_WRITABLE == EPOLLOUT && CL_ERROR == EPOLLERR && CL_HANGUP == EPOLLHUP &&
                   CL_READ_HANGUP == EPOLLRDHUP,
               "epoll events");

#define BATCH 64

int cl_epoll_create(void) {
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int cl_epoll_control(int epoll, int operation, int fd, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return epoll_ctl(epoll, operation, fd, &event) < 0 ? -errno : 0;
}

int cl_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int capacity, int timeout_ms) {
    struct epoll_event ready[BATCH];
    if (capacity > BATCH) capacity = BATCH;
    int count;
    do {
        count = epoll_wait(epoll, ready, capacity, timeout_ms);
    } while (count < 0 && errno == EINTR && timeout_ms < 0);
    if (count < 0) return -errno;
    for (int at = 0; at < count; at++) {
        tokens[at] = ready[at].data.u64;
        events[at] = ready[at].events;
    }
    return count;
}

int cl_timer_create(void) {
    int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

int cl_timer_set(int fd, uint64_t at_nanoseconds) {
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at_nanoseconds / 1000000000u), .tv_nsec = (long)(at_nanoseconds % 1000000000u)}};
    return timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

int cl_clock_watch(void) {
    int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0) return -errno;
    // Years ahead: what is awaited is its cancellation.
    struct itimerspec never = {.it_value = {.tv_sec = INT32_MAX}};
    if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) == 0) return fd;
    int failed = -errno;
    close(fd);
    return failed;
}

int cl_signal_descriptor(const int *signals, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int at = 0; at < count; at++) sigaddset(&set, signals[at]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) return -errno;
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

int cl_signal_next(int fd, int *sender_pid) {
    struct signalfd_siginfo info;
    ssize_t count = read(fd, &info, sizeof info);
    if (count < 0) return errno == EAGAIN ? 0 : -errno;
    *sender_pid = (int)info.ssi_pid;
    return (int)info.ssi_signo;
}

int cl_pidfd_open(int pid) {
    long fd = syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? -errno : (int)fd;
}

int cl_pidfd_send_signal(int pidfd, int signal) {
    return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) < 0 ? -errno : 0;
}

static uint64_t clock_now(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t cl_clock_boot(void) { return clock_now(CLOCK_BOOTTIME); }
uint64_t cl_clock_asleep(void) { return clock_now(CLOCK_BOOTTIME) - clock_now(CLOCK_MONOTONIC); }
uint64_t cl_clock_real(void) { return clock_now(CLOCK_REALTIME); }

int cl_reap(int pid, int block, int *code) {
    int status;
    pid_t ended;
    do {
        ended = waitpid(pid, &status, block ? 0 : WNOHANG);
    } while (ended < 0 && errno == EINTR);
    if (ended < 0) return -errno;
    if (ended == 0) return 0;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ended;
}

int cl_ignore_sigpipe(void) {
    sigset_t empty;
    sigemptyset(&empty);
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) return -errno;
    return sigprocmask(SIG_SETMASK, &empty, NULL) < 0 ? -errno : 0;
}

int cl_watch_directory(const char *path) {
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) return -errno;
    if (inotify_add_watch(fd, path, IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR) < 0) {
        int failed = -errno;
        close(fd);
        return failed;
    }
    return fd;
}
