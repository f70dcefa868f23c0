// Descriptors: pipes, copies, careful opening, namespace questions.

#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(CL_O_PATH == O_PATH, "open flags");
_Static_assert(CL_RESOLVE_NO_SYMLINKS == RESOLVE_NO_SYMLINKS, "openat2 resolve bits");
_Static_assert(CL_RESOLVE_BENEATH == RESOLVE_BENEATH, "openat2 resolve bits");

int cl_pipe(int out[2]) { return pipe2(out, O_CLOEXEC) < 0 ? -errno : 0; }

int cl_close_range(unsigned first, unsigned last, unsigned flags) {
    return syscall(SYS_close_range, first, last, flags) < 0 ? -errno : 0;
}

int cl_duplicate(int fd, int minimum) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, minimum);
    return copy < 0 ? -errno : copy;
}

int cl_set_nonblocking(int fd, int on) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return -errno;
    flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int cl_openat2(int directory, const char *path, int open_flags, unsigned mode, uint64_t resolve) {
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(open_flags | O_CLOEXEC),
        .mode = open_flags & O_CREAT ? mode : 0,
        .resolve = resolve,
    };
    for (int tries = 0; tries < 16; tries++) {
        long fd = syscall(SYS_openat2, directory, path, &how, sizeof how);
        if (fd >= 0) return (int)fd;
        // The kernel asks for another try when a rename raced with the look-up (openat2(2)).
        if (errno != EAGAIN && errno != EINTR) return -errno;
    }
    return -EAGAIN;
}

int cl_status(int fd, struct cl_status *out) {
    struct stat status;
    if (fstat(fd, &status) < 0) return -errno;
    out->mode = status.st_mode;
    out->uid = status.st_uid;
    out->gid = status.st_gid;
    out->size = status.st_size;
    out->modified_seconds = status.st_mtim.tv_sec;
    out->device = status.st_dev;
    out->inode = status.st_ino;
    return 0;
}

int cl_memory_file(const char *name) {
    int fd = memfd_create(name, MFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int cl_namespace_type(int fd) {
    int type = ioctl(fd, NS_GET_NSTYPE);
    return type < 0 ? -errno : type;
}

int cl_namespace_owner(int fd) {
    int owner = ioctl(fd, NS_GET_USERNS);
    return owner < 0 ? -errno : owner;
}
